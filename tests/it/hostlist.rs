//! Host lists, held against what `scontrol show hostnames` and `show hostlist` of Slurm 22.05 print.

use gridtally::reference::hostlist::{Hostlist, HostlistError, RANGE_LIMIT, compress};
use proptest::prelude::*;

fn expand(text: &str) -> Result<Vec<String>, HostlistError> {
    let list = Hostlist::parse(text)?;
    let hosts: Vec<String> = list.hosts().map(std::borrow::Cow::into_owned).collect();
    assert_eq!(u64::try_from(hosts.len()).unwrap(), list.len(), "{text}");
    Ok(hosts)
}

#[test]
fn lists_expand_as_slurm_prints_them() {
    for (text, hosts) in [
        ("rack[1-2]n[01-02]", "rack1n01 rack1n02 rack2n01 rack2n02"),
        ("a[9-11]", "a9 a10 a11"),
        ("a[09-11]", "a09 a10 a11"),
        ("a[8-010]", "a8 a9 a10"),
        ("a[001-2]", "a001 a002"),
        ("n[1-2][3-4]", "n13 n14 n23 n24"),
        ("[1-2][3-4]", "13 14 23 24"),
        ("n[1-2]m5[3-4]", "n1m53 n1m54 n2m53 n2m54"),
        ("n[1,1]", "n1 n1"),
        ("n1,n1", "n1 n1"),
        ("a[1-3],a[2-4]", "a1 a2 a3 a2 a3 a4"),
        ("n[9-10,08]", "n9 n10 n08"),
        ("n1,,n2,", "n1 n2"),
        (",n1", "n1"),
        ("n1 n2\tn3", "n1 n2 n3"),
        ("n[5],n[05]", "n5 n05"),
        ("n[0-0],n[00-000]", "n0 n00"),
        ("é[1-2]", "é1 é2"),
        ("a-b.c[1-2]", "a-b.c1 a-b.c2"),
        ("n[18446744073709551615]", "n18446744073709551615"),
        (
            "n[000000000000000000001-2]",
            "n000000000000000000001 n000000000000000000002",
        ),
        ("n{1-2}", "n{1-2}"),
        // The last bracket runs fastest, then the first, then the second: not the order one would guess.
        (
            "n[01-02]n[1-2]n[3-4]",
            "n01n1n3 n01n1n4 n02n1n3 n02n1n4 n01n2n3 n01n2n4 n02n2n3 n02n2n4",
        ),
        (
            "a[1-2]b[3,1]c[7-8]",
            "a1b3c7 a1b3c8 a2b3c7 a2b3c8 a1b1c7 a1b1c8 a2b1c7 a2b1c8",
        ),
        (
            "a[1-2]b[1-2]c[1-2]d[1-2]",
            "a1b1c1d1 a1b1c1d2 a2b1c1d1 a2b1c1d2 a1b2c1d1 a1b2c1d2 a2b2c1d1 a2b2c1d2 \
             a1b1c2d1 a1b1c2d2 a2b1c2d1 a2b1c2d2 a1b2c2d1 a1b2c2d2 a2b2c2d1 a2b2c2d2",
        ),
        ("", ""),
        ("None assigned", ""),
        ("(null)", ""),
    ] {
        assert_eq!(
            expand(text).unwrap(),
            hosts.split_whitespace().collect::<Vec<_>>(),
            "{text}"
        );
    }
}

#[test]
fn what_slurm_refuses_is_refused() {
    for text in [
        "n[1-3]-ib",
        "n[1-2]m",
        "n[3-1]",
        "n[1-5/2]",
        "n[]",
        "n[-1]",
        "n[a-b]",
        "n[1,,2]",
        "n[[1-2]]",
        "n[1x2]",
        // Slurm takes these for names or numbers; they can only be damage.
        "n[1",
        "n1]",
        "n[1-]",
        "n[1, 2]",
        "n[+1]",
    ] {
        assert!(
            matches!(expand(text), Err(HostlistError::Syntax(_))),
            "{text}: {:?}",
            expand(text)
        );
    }
}

#[test]
fn limits_are_reported_and_nothing_is_expanded_to_find_them() {
    assert_eq!(Hostlist::parse("n[1-65536]").unwrap().len(), RANGE_LIMIT);
    assert_eq!(Hostlist::parse("n[1-300]m[1-300]").unwrap().len(), 90_000);
    let many = vec!["n[0-65535]"; 100].join(",");
    for text in [
        "n[1-999999999]",
        "n[1-65537]",
        "a[0-60000]b[0-60000]c[0-60000]d[0-60000]",
        &many,
    ] {
        assert!(matches!(Hostlist::parse(text), Err(HostlistError::Limit(_))), "{text}");
    }
    // As many brackets as would overflow any count.
    let product = "a[0-65535]".repeat(16);
    assert!(matches!(Hostlist::parse(&product), Err(HostlistError::Limit(_))));
    let why = Hostlist::parse("n[1-999999999]").unwrap_err().to_string();
    assert!(why.contains("more than 65536 hosts"), "{why}");
    assert!(matches!(
        Hostlist::parse_within("n[1-4]", 3),
        Err(HostlistError::Limit(_))
    ));
    // Counting takes no more than the text, and the first host comes without making the others.
    let list = Hostlist::parse("a[0-999]b[0-999]").unwrap();
    assert_eq!((list.len(), list.hosts().next().as_deref()), (1_000_000, Some("a0b0")));
}

#[test]
fn lists_are_written_as_slurm_writes_them() {
    for (hosts, list) in [
        ("n001,n002,n003,n007", "n[001-003,007]"),
        ("n3,n1,n2", "n[3,1-2]"),
        ("n1,n1,n2", "n[1,1-2]"),
        ("rack1n01,rack1n02,rack2n01", "rack1n[01-02],rack2n01"),
        ("n9,n10", "n[9-10]"),
        ("n09,n10,n11", "n[09-11]"),
        ("n8,n9,n10,n011", "n[8-10,011]"),
        ("n99,n100", "n[99-100]"),
        ("n1,n01", "n[1,01]"),
        ("n0,n00", "n[0,00]"),
        ("n1-ib,n2-ib", "n1-ib,n2-ib"),
        ("login,n1,n2", "login,n[1-2]"),
        ("n1,n2,n4,n5,m1,n6", "n[1-2,4-5],m1,n6"),
        ("1,2,3", "[1-3]"),
        ("n5", "n5"),
        ("gpu1,gpu2,n001,n002,n003,n004,n007", "gpu[1-2],n[001-004,007]"),
    ] {
        assert_eq!(compress(hosts.split(',')), list, "{hosts}");
    }
}

proptest! {
    #[test]
    fn what_is_written_means_the_same_hosts(hosts in prop::collection::vec("[a-c]{0,2}[0-9]{1,4}|[a-z][a-z0-9.-]{0,6}", 0..40)) {
        let list = compress(&hosts);
        prop_assert_eq!(expand(&list).unwrap(), hosts, "{}", list);
    }

    #[test]
    fn ranges_survive_the_way_there_and_back(from in 0_u64..200_000, n in 1_u64..300, width in 1_usize..8) {
        let hosts: Vec<String> = (from..from + n).map(|at| format!("node{at:0width$}")).collect();
        let list = compress(&hosts);
        prop_assert!(list.len() < 40, "{}", list);
        prop_assert_eq!(expand(&list).unwrap(), hosts);
    }

    #[test]
    fn no_text_makes_a_list_panic(text in "[an0-9,\\[\\]\\- é]{0,40}") {
        if let Ok(list) = Hostlist::parse_within(&text, 100_000) {
            prop_assert_eq!(u64::try_from(list.hosts().count()).unwrap(), list.len());
        }
    }
}
