//! Servers of objects that are not what a lake needs: without conditional writes, or without a right. A run says so, says what the lake
//! is, and is whole again once the server is what it should be.

use std::process::Output;

use super::proxy::{FaultProxy, Rules};
use super::{as_now, run_of, words};
use crate::promises::scene::{assert_same, lake_hash};
use crate::snapshots::{Nights, pipeline};
use crate::support::s3::{S3, lock_of_the_dead};

const AS_BEFORE: &str = "nothing was published, the lake is as before";

/// A server behind a proxy, and the sample of a night.
fn scene(rules: Rules) -> (S3, FaultProxy, Nights) {
    let s3 = S3::start();
    let proxy = FaultProxy::before(s3.port(), 13);
    proxy.rule(rules);
    let nights = Nights::new();
    nights.write("p.toml", &pipeline(""));
    nights.arrive(0);
    (s3, proxy, nights)
}

fn run_with(s3: &S3, proxy: &FaultProxy, nights: &Nights, variables: &[(&str, &str)]) -> Output {
    let mut command = run_of(&nights.path(""), &["run", "p.toml", "--out", "s3://bucket/lake"]);
    s3.introduce(&mut command);
    proxy.introduce(&mut command);
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn a_store_that_ignores_the_conditions_of_writes_is_refused() {
    let all = &["if-match", "if-none-match"];
    let (s3, proxy, nights) = scene(Rules {
        ignored: all,
        ..Rules::default()
    });
    let refused = run_with(&s3, &proxy, &nights, &[]);
    let said = words(&refused);
    assert_eq!(refused.status.code(), Some(78), "{said}");
    for part in [
        "If-None-Match",
        "s3://bucket/lake",
        "AWS_CONDITIONAL_PUT=disabled",
        AS_BEFORE,
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(s3.lake("lake").list("").unwrap(), [], "{said}");
    // A lock that is left, where only its replacement is no condition.
    s3.put("lake/.gridtally/lock", lock_of_the_dead().as_bytes());
    proxy.rule(Rules {
        ignored: &["if-match"],
        ..Rules::default()
    });
    let refused = run_with(&s3, &proxy, &nights, &[]);
    let said = words(&refused);
    assert_eq!(refused.status.code(), Some(78), "{said}");
    assert!(said.contains("(If-Match)"), "{said}");
    assert!(!s3.lake("lake").exists("manifest.json").unwrap());
    // The operator sees to it.
    proxy.rule(Rules {
        ignored: all,
        ..Rules::default()
    });
    let published = run_with(&s3, &proxy, &nights, &[("AWS_CONDITIONAL_PUT", "disabled")]);
    let said = words(&published);
    assert!(published.status.success() && said.contains("knows no lock"), "{said}");
    let local = run_of(&nights.path(""), &["run", "p.toml"]).output().unwrap();
    assert!(local.status.success(), "{}", words(&local));
    assert_same(&lake_hash(&nights.path("lake")), &as_now(&s3.lake("lake")), &said);
}

#[test]
fn a_run_without_the_right_to_delete_names_it_and_the_next_run_with_it_finishes() {
    // Of the whole request, and of each object in it.
    for rules in [
        Rules {
            denied: Some("?delete"),
            ..Rules::default()
        },
        Rules {
            denies_deletions: true,
            ..Rules::default()
        },
    ] {
        let (s3, proxy, nights) = scene(rules);
        // The first run begins the commit, and the next cannot finish it.
        for nth in 0..2 {
            let failed = run_with(&s3, &proxy, &nights, &[]);
            let said = words(&failed);
            assert_eq!(failed.status.code(), Some(74), "{rules:?}, {nth}: {said}");
            for part in [
                "the object store refuses to delete: a lake needs the rights to list, read, write, copy and delete",
                "; the commit has begun and is not done: the next run finishes it",
            ] {
                assert!(said.contains(part), "{rules:?}, {nth}: {part}: {said}");
            }
            assert!(!said.contains("commit the commit"), "{said}");
        }
        proxy.rule(Rules::default());
        let finished = run_with(&s3, &proxy, &nights, &[]);
        assert!(finished.status.success(), "{}", words(&finished));
        let local = run_of(&nights.path(""), &["run", "p.toml"]).output().unwrap();
        assert!(local.status.success(), "{}", words(&local));
        assert_same(
            &lake_hash(&nights.path("lake")),
            &as_now(&s3.lake("lake")),
            "in the end",
        );
    }
    // Before a commit, the lake is as before.
    let (s3, proxy, nights) = scene(Rules::default());
    assert!(run_with(&s3, &proxy, &nights, &[]).status.success());
    nights.arrive(1);
    proxy.rule(Rules {
        denies_deletions: true,
        ..Rules::default()
    });
    let said = words(&run_with(&s3, &proxy, &nights, &[]));
    assert!(said.contains("refuses to delete") && said.contains(AS_BEFORE), "{said}");
}

#[test]
fn a_run_that_fails_before_its_commit_says_that_the_lake_is_as_before() {
    let (s3, proxy, nights) = scene(Rules::default());
    for denied in ["put /", "get /"] {
        proxy.rule(Rules {
            denied: Some(denied),
            ..Rules::default()
        });
        let failed = run_with(&s3, &proxy, &nights, &[]);
        let said = words(&failed);
        assert_eq!(failed.status.code(), Some(74), "{denied}: {said}");
        assert_eq!(said.matches(AS_BEFORE).count(), 1, "{denied}: {said}");
    }
    assert!(!s3.lake("lake").exists("manifest.json").unwrap());
}
