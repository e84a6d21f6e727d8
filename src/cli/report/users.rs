//! What a report does with the names of people.

use crate::error::{Error, Kind, Result};
use crate::privacy::{KeyPlace, Privacy, PrivacyAction, PrivacyKey, Pseudonyms, Rotation};
use crate::report::apel::users::Users;

/// What becomes of the names of people in what is exported.
#[derive(Debug, clap::Args)]
pub(super) struct UsersArgs {
    /// What becomes of the names of people.
    #[arg(long, value_name = "HOW", default_value = "withhold")]
    users: UsersArg,

    /// File that holds the key of pseudonyms.
    #[arg(long, value_name = "FILE", conflicts_with = "key_env")]
    key_file: Option<String>,

    /// The key file may be read by everybody on this machine; otherwise such a file is refused.
    #[arg(long, requires = "key_file")]
    key_readable_by_all: bool,

    /// Environment variable that holds the key of pseudonyms.
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
}

/// What becomes of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum UsersArg {
    /// Subjects are `withheld`, local users left out.
    Withhold,
    /// Keyed pseudonyms that rotate with the year.
    Pseudonym,
    /// As the lake has them.
    Keep,
}

impl UsersArgs {
    /// What becomes of the names of people.
    ///
    /// # Errors
    /// [`Kind::Usage`] when a key is missing or not needed, [`Kind::Config`] when it cannot be had.
    pub(super) fn users(&self) -> Result<Users> {
        let key = match (&self.key_file, &self.key_env) {
            (Some(file), _) => Some(KeyPlace::File {
                path: file.clone(),
                is_open: self.key_readable_by_all,
            }),
            (None, Some(env)) => Some(KeyPlace::Env(env.clone())),
            (None, None) => None,
        };
        match (self.users, key) {
            (UsersArg::Withhold, None) => Ok(Users::Withhold),
            (UsersArg::Keep, None) => Ok(Users::Keep),
            (UsersArg::Pseudonym, Some(place)) => {
                let key = PrivacyKey::fetch(&place).map_err(Error::config)?;
                Ok(Users::Pseudonym(Box::new(Privacy {
                    actions: [PrivacyAction::Pseudonym; 4],
                    pseudonyms: Some(Pseudonyms {
                        key,
                        rotation: Rotation::Year,
                        replaces: None,
                    }),
                })))
            }
            (UsersArg::Pseudonym, None) => Err(Error::new(
                Kind::Usage,
                "pseudonyms need a key: --key-file or --key-env",
            )),
            (_, Some(_)) => Err(Error::new(Kind::Usage, "a key is only for --users pseudonym")),
        }
    }
}
