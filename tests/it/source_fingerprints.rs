//! The fingerprints of sources are those that lakes of today were made under: where one changes, every lake reads its files
//! again. The texts are the contract; a key that a source does not state leaves no line.

use std::fs;

use gridtally::config::Plan;

/// A source, and the canonical text of its settings.
struct Fingerprinted {
    keys: &'static str,
    text: &'static str,
}

const SOURCES: [Fingerprinted; 11] = [
    Fingerprinted {
        keys: "format = \"pbs\"\nsite = \"X\"",
        text: "name = \"s\"\nformat = \"pbs\"\nsite = \"X\"\nvo = \"record\"\npbs.quotes = \"around a value\"\n\
               pbs.gpus = \"given or requested\"\npbs.text = \"bytes that are not UTF-8 kept\"\n",
    },
    Fingerprinted {
        keys: "format = \"sacct\"\nsite = \"X\"\ncluster = \"c\"\ninfrastructure = \"grid\"\ntimezone = \"Europe/Zurich\"\n\
               delimiter = \"\\t\"\nlayout = \"xdmod-9.0\"\nvo = { column = \"account\" }\nmax_rejected = 1\nmax_unread = 0.5",
        text: "name = \"s\"\nformat = \"sacct\"\nsite = \"X\"\ncluster = \"c\"\ninfrastructure = \"grid\"\n\
               zone = \"Europe/Zurich\"\ndelimiter = \"\\t\"\nlayout = \"xdmod-9.0\"\nvo.column = \"account\"\n",
    },
    Fingerprinted {
        keys: "format = \"pbs\"\nsite = \"X\"\nblah = [\"b\"]\nvo = { value = \"atlas\" }\n\
               scaled_to = { benchmark = \"si00\", value = 1000, times = \"cpu\" }",
        text: "name = \"s\"\nformat = \"pbs\"\nsite = \"X\"\nvo.value = \"atlas\"\npbs.quotes = \"around a value\"\n\
               pbs.gpus = \"given or requested\"\npbs.text = \"bytes that are not UTF-8 kept\"\n\
               blah = \"joined\"\n\
               scaled = \"cpu true wall false\"\n",
    },
    Fingerprinted {
        keys: "format = \"swf\"\nsite = \"X\"\nunix_start_time = -7\nstart_from = \"submit\"",
        text: "name = \"s\"\nformat = \"swf\"\nsite = \"X\"\nvo = \"record\"\nunix_start_time = \"-7\"\n\
               start_from = \"submit\"\n",
    },
    Fingerprinted {
        keys: "format = \"apel\"",
        text: "name = \"s\"\nformat = \"apel\"\nvo = \"record\"\napel.last_value = \"ends with its line\"\n\
               apel.text = \"bytes that are not UTF-8 kept\"\nacceptance = \"strict-apel\"\n",
    },
    Fingerprinted {
        keys: "format = \"apel\"\nacceptance = \"salvage\"\nsummaries = \"snapshot\"\npublication = \"site\"\n\
               publication_parts = \"folder\"",
        text: "name = \"s\"\nformat = \"apel\"\nvo = \"record\"\napel.last_value = \"ends with its line\"\n\
               apel.text = \"bytes that are not UTF-8 kept\"\nacceptance = \"salvage\"\nsummaries = \"snapshot\"\n\
               publication = \"site\"\npublication_parts = \"folder\"\n",
    },
    Fingerprinted {
        keys: "format = \"apel\"\nsummaries = \"upsert\"\npublication = \"source\"\n\
               publication_parts = { within_s = 60 }",
        text: "name = \"s\"\nformat = \"apel\"\nvo = \"record\"\napel.last_value = \"ends with its line\"\n\
               apel.text = \"bytes that are not UTF-8 kept\"\nacceptance = \"strict-apel\"\n\
               publication = \"source\"\npublication_parts = \"within 60000 ms\"\n",
    },
    Fingerprinted {
        keys: "format = \"gracc\"\nsite = { column = \"cluster\" }",
        text: "name = \"s\"\nformat = \"gracc\"\nsite.rule = \"column cluster\"\nvo = \"record\"\n\
               gracc.identity = \"view, probe, job and times, or all that was measured\"\n\
               gracc.text = \"bytes that are not UTF-8 kept\"\n\
               gracc.envelopes = \"have an end\"\ngracc.times = \"assumed ones are marked\"\n",
    },
    Fingerprinted {
        keys: "format = \"htcondor\"\nsite = \"X\"",
        text: "name = \"s\"\nformat = \"htcondor\"\nsite = \"X\"\nvo = \"record\"\n\
               htcondor.hosts = \"without their slots\"\nhtcondor.text = \"bytes that are not UTF-8 kept\"\n",
    },
    Fingerprinted {
        keys: "format = \"sge\"\nsite = \"X\"\nscaled_to = { benchmark = \"hs06\", value = 10 }\ndelimiter = \"x\"",
        text: "name = \"s\"\nformat = \"sge\"\nsite = \"X\"\ndelimiter = \"x\"\nvo = \"record\"\n\
               sge.category = \"may hold colons\"\nsge.tasks = \"part of their job\"\n\
               sge.text = \"bytes that are not UTF-8 kept\"\nscaled = \"cpu true wall true\"\n",
    },
    Fingerprinted {
        keys: "format = \"auto\"\nsite = \"X\"\nunix_start_time = 0",
        text: "name = \"s\"\nformat = \"auto\"\nsite = \"X\"\nvo = \"record\"\n\
               apel.last_value = \"ends with its line\"\n\
               apel.text = \"bytes that are not UTF-8 kept\"\n\
               gracc.identity = \"view, probe, job and times, or all that was measured\"\n\
               gracc.text = \"bytes that are not UTF-8 kept\"\n\
               gracc.envelopes = \"have an end\"\ngracc.times = \"assumed ones are marked\"\n\
               pbs.quotes = \"around a value\"\npbs.gpus = \"given or requested\"\n\
               pbs.text = \"bytes that are not UTF-8 kept\"\n\
               sge.category = \"may hold colons\"\nsge.tasks = \"part of their job\"\nsge.text = \"bytes that are not UTF-8 kept\"\n\
               lsf.memory = \"0 is unknown\"\nlsf.text = \"bytes that are not UTF-8 kept\"\n\
               htcondor.hosts = \"without their slots\"\nhtcondor.text = \"bytes that are not UTF-8 kept\"\n\
               unix_start_time = \"0\"\n\
               acceptance = \"strict-apel\"\n",
    },
];

#[test]
fn fingerprints_of_sources_are_those_of_lakes_of_today() {
    for Fingerprinted { keys, text } in SOURCES {
        let here = tempfile::tempdir().unwrap();
        fs::write(here.path().join("dump"), "").unwrap();
        let pipeline = format!(
            "[pipeline]\nname = \"p\"\noutput = \"lake\"\n[normalise]\nmissing = \"null\"\n[[source]]\nname = \"s\"\n\
             paths = [\"dump\"]\n{keys}\n"
        );
        let file = here.path().join("p.toml");
        fs::write(&file, pipeline).unwrap();
        let (plan, _) = Plan::load(&file).unwrap();
        let expected = blake3::hash(format!("source 1\n{text}").as_bytes());
        assert_eq!(
            plan.sources[0].fingerprint,
            expected.to_hex().to_string(),
            "{keys}\nis no more\n{text}"
        );
    }
}
