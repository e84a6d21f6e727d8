//! The line of fairshare.

use std::fs;

use serde_json::Value;

use super::{Lakes, OVER, PLAIN, UNKNOWN, VOID};

impl Lakes {
    /// The line of fairshare: usage of what ran up to an instant, by the recorded billing.
    pub(super) fn fairshare_line(&self) -> String {
        let write = |name: &str, text: &str| fs::write(self.path().join(name), text).unwrap();
        let pipeline = fs::read_to_string(self.path().join("prorated.toml")).unwrap();
        write(
            "shares.txt",
            "Cluster|Account|ParentName|User|Partition|Share\noak|root||||1\noak|fern|root|||3\noak|mist|root|||1\n\
             oak|fern||anna||1\noak|mist||anna||1\n",
        );
        write(
            "shares.toml",
            &format!(
                "{}[[inventory]]\nname = \"shares\"\npaths = [\"shares.txt\"]\nsite = \"OAK\"\nas_of = \"2026-01-01\"\n\
                 [[fairshare]]\nsite = \"OAK\"\ncluster = \"oak\"\nlisting = \"shares\"\nusage = \"recorded-billing\"\n\
                 half_life = \"none\"\n",
                pipeline.replace("output = \"prorated\"", "output = \"shares\"")
            ),
        );
        self.run(&["run", "shares.toml"]);
        let at = ["--at", "2026-04-01T00:00:00Z", "--format", "json"];
        let asked = |words: &[&str]| self.run(&[&["report"], words, &at].concat()).0;
        let rows: Vec<Value> = serde_json::from_str(&asked(&["sshare", "shares"])).unwrap();
        for (account, hours) in [("fern", PLAIN + VOID + OVER), ("mist", UNKNOWN)] {
            let row = rows
                .iter()
                .find(|row| row["Account"].as_str().unwrap().trim() == account)
                .unwrap();
            assert_eq!(row["RawUsage"], hours * 3600, "{account}");
        }
        for words in [
            &["sshare", "shares"][..],
            &["fairshare", "shares", "--shares", "fern=1"],
        ] {
            assert!(!asked(words).contains("anna"));
            assert!(asked(&[words, &["--users"]].concat()).contains("anna"));
        }
        "| `sshare`, `fairshare` | not in: what ran counts | the part up to the instant | – | – | none; with `--users` |\n".to_owned()
    }
}
