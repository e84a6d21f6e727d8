//! Shares of a real cluster, where its listings are at hand.

use std::fs;

use super::Site;
use super::load::load;
use crate::support::collect::shared;

const OPTIONS: &str = "--public cpu --requeue excl --except unused --on 2026-11-22";

/// A lake of the listings of a release, in which `chem` bought the GPU nodes with `atlas`.
fn zoo(release: &str, test: &str) -> Option<Site> {
    let folder = shared(test, &format!("data/slurm/{release}"))?;
    let site = Site::files();
    for folder in ["january", "july"] {
        fs::remove_dir_all(site.path().join(folder)).unwrap();
    }
    let copy = |from: &str, to: &str| fs::copy(folder.join(from), site.path().join(to)).unwrap();
    copy("scontrol_node.txt", "nodes.txt");
    copy("scontrol_part.txt", "partitions.txt");
    copy("sacctmgr_dump.cfg", "dump.cfg");
    site.write(
        "pipeline.toml",
        "[pipeline]\nname = \"zoo\"\noutput = \"lake\"\n\n[[inventory]]\nname = \"slurm\"\n\
         paths = [\"nodes.txt\", \"partitions.txt\", \"dump.cfg\"]\nsite = \"ZOO\"\ncluster = \"CLUSTER\"\n\
         as_of = \"2026-11-21T03:00:00Z\"\ntimezone = \"Europe/Zurich\"\n"
            .replace("CLUSTER", if release == "22.05" { "zoo" } else { "zoo24" })
            .as_str(),
    );
    site.write("owners.csv", "account,partition,part\nchem,gpu,40%\natlas,gpu,60%\n");
    site.write("tres.csv", "feature,tres_per_core\nskylake,1.2\n,1\n");
    site.make();
    Some(site)
}

#[test]
fn a_load_file_of_a_real_cluster_is_its_dump_but_for_shares() {
    for release in ["24.11", "22.05"] {
        let Some(site) = zoo(release, "a_load_file_of_a_real_cluster_is_its_dump_but_for_shares") else {
            return;
        };
        let dump = site.read("dump.cfg");
        let file = site.report(&format!("{OPTIONS} --for sacctmgr-load"));
        let changed: Vec<(&str, &str)> = (dump.lines().filter(|line| !line.starts_with('#')))
            .zip(file.lines())
            .filter(|(dumped, written)| dumped != written)
            .collect();
        assert_eq!(
            dump.lines().filter(|line| !line.starts_with('#')).count(),
            file.lines().count()
        );
        let granted = site.accounts(OPTIONS);
        assert!(!changed.is_empty());
        for (dumped, written) in &changed {
            let name = load(&format!("Cluster - 'x'\n{written}\n"))[1].name.clone();
            let (text, own) = dumped.rsplit_once("Fairshare=").unwrap();
            assert_eq!(*written, format!("{text}Fairshare={}", granted[&name][6]), "of {own}");
        }
        // Cores of Skylake count 1.2, those of the racks and of the GPU nodes 1.
        let sum = |accounts: &[&str], column: usize| -> i128 {
            let cells = accounts.iter().map(|of| granted[*of][column].replace('.', ""));
            cells.map(|cell| cell.parse::<i128>().unwrap()).sum()
        };
        assert_eq!(sum(&["chem", "atlas"], 4), 64_000_000, "the GPU nodes");
        let (top, leaves) = (["bio", "chem", "physics"], ["genomics", "chem", "atlas", "cms"]);
        assert_eq!(
            sum(&top, 5),
            sum(&leaves, 5),
            "accounts above others have the sum of what is in them"
        );
    }
}
