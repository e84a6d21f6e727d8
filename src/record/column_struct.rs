//! Columns of one type as the named fields of a struct: a name that does not exist does not compile, and no place in an
//! array stands for a measure.

/// Declares a struct of columns. `NAMES` are their names, in the order in which tables are read and written.
macro_rules! column_struct {
    ($(#[$of_struct:meta])* pub struct $name:ident: $value:ty { $($(#[$of_field:meta])* $field:ident)+ }) => {
        $(#[$of_struct])*
        pub struct $name {
            $($(#[$of_field])* pub $field: $value,)+
        }

        impl $name {
            /// The columns, in the order of the fields.
            pub const NAMES: [&'static str; [$(stringify!($field)),+].len()] = [$(stringify!($field)),+];

            /// The value of each column, in the order of [`Self::NAMES`].
            #[must_use]
            pub fn each(&self) -> [&$value; Self::NAMES.len()] {
                [$(&self.$field),+]
            }

            /// The value of each column to be filled, in the order of [`Self::NAMES`].
            pub fn each_mut(&mut self) -> [&mut $value; Self::NAMES.len()] {
                [$(&mut self.$field),+]
            }

            /// Reads a column by its name; `None` for a column of others.
            #[must_use]
            pub fn column(name: &str) -> Option<fn(&Self) -> &$value> {
                match name {
                    $(stringify!($field) => Some(|columns| &columns.$field),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use column_struct;
