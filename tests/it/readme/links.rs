//! Links between pages: to files that exist and to headings that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::pages;
use crate::support::sample::repository;

/// What a page links to, and the anchors it has.
struct PageLinks {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

fn read(text: &str) -> PageLinks {
    let mut links = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = slug(&heading.take().unwrap());
                let seen = counts.entry(anchor.clone()).or_insert(0);
                anchors.insert(if *seen == 0 { anchor } else { format!("{anchor}-{seen}") });
                *seen += 1;
            }
            _ => {}
        }
    }
    PageLinks { links, anchors }
}

/// The anchor of a heading, as hosts of repositories and mdBook make it.
fn slug(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The links of `page` that lead nowhere.
fn dead_links(page: &Path, text: &str) -> Vec<String> {
    let own = read(text);
    let mut dead = Vec::new();
    for link in &own.links {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (file, anchor) = link
            .split_once('#')
            .map_or((link.as_str(), None), |(file, anchor)| (file, Some(anchor)));
        let target = if file.is_empty() {
            page.to_owned()
        } else {
            plain(&page.parent().unwrap().join(file))
        };
        let is_there = match anchor {
            None => target.exists(),
            Some(anchor) if file.is_empty() => own.anchors.contains(anchor),
            Some(anchor) => std::fs::read_to_string(&target).is_ok_and(|text| read(&text).anchors.contains(anchor)),
        };
        if !is_there {
            dead.push(format!("{}: {link}", page.display()));
        }
    }
    dead
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_a_heading() {
    let others = [
        "sample-data/README.md",
        "pipelines/policies/README.md",
        "docs/SUMMARY.md",
    ];
    let all = pages().into_iter().chain(others.map(str::to_owned));
    let dead: Vec<String> = all
        .map(|page| repository(&page))
        .flat_map(|page| dead_links(&page, &std::fs::read_to_string(&page).unwrap()))
        .collect();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn a_link_to_no_file_or_heading_is_found() {
    let page = repository("docs/planted.md");
    let text = "# A heading: of two words\n[a](#a-heading-of-two-words) [b](#other) [c](none.md) [d](index.md#none) [e](index.md)";
    let dead = dead_links(&page, text).join(" ");
    for (link, is_dead) in [
        ("md: #other", true),
        ("md: none.md", true),
        ("md: index.md#none", true),
        ("#a-heading", false),
    ] {
        assert_eq!(dead.contains(link), is_dead, "{dead}");
    }
}

#[test]
fn the_summary_of_the_book_lists_every_page_once() {
    let summary = repository("docs/SUMMARY.md");
    let mut listed = read(&std::fs::read_to_string(&summary).unwrap()).links;
    listed.sort();
    let pages = pages();
    let mut there: Vec<&str> = pages.iter().filter_map(|page| page.strip_prefix("docs/")).collect();
    there.sort_unstable();
    assert_eq!(listed, there);
}
