//! The policy of lakes that charge something, where it does not matter what.

/// `cores`: a core hour costs one.
pub(crate) const CORES: &str = "id = \"cores\"\nversion = \"1\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"cpu\"\nunit = \"core_hour\"\n\
     formula = \"cores * seconds / 3600\"\n[[example]]\nname = \"one\"\nin = { cores = 2, hours = 2 }\nexpect = 4\n";

/// The part of a pipeline that charges by it, where the policy is written to `cores.toml`.
pub(crate) const CHARGE_CORES: &str = "[[charge]]\npolicies = [\"cores.toml\"]\n";
