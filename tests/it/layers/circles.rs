//! Files that know each other, directly or by others.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Crate;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The circles of files (strongly connected components of more than one), each sorted.
pub(super) fn circles(house: &Crate) -> Vec<Vec<String>> {
    let mut graph = Graph::new();
    for file in house.files() {
        let here = file.module.join("::");
        let targets = graph.entry(here.clone()).or_default();
        for import in house.imports(file) {
            let there = house.definition(&import.path).map(|file| file.module.join("::"));
            targets.extend(there.filter(|there| *there != here && !there.is_empty()));
        }
    }
    let mut reversed = Graph::new();
    for (from, targets) in &graph {
        for to in targets {
            reversed.entry(to.clone()).or_default().insert(from.clone());
        }
    }
    // Kosaraju: files by when they are left, then whoever reaches them backwards.
    let mut left = Vec::new();
    let mut seen = BTreeSet::new();
    for file in graph.keys() {
        visit(&graph, file, &mut seen, &mut left);
    }
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for file in left.iter().rev() {
        let mut circle = Vec::new();
        visit(&reversed, file, &mut seen, &mut circle);
        if circle.len() > 1 {
            circle.sort();
            circles.push(circle);
        }
    }
    circles
}

/// Adds a file and all it leads to that were not seen, each after those it leads to.
fn visit(graph: &Graph, file: &str, seen: &mut BTreeSet<String>, left: &mut Vec<String>) {
    if !seen.insert(file.to_owned()) {
        return;
    }
    for next in graph.get(file).into_iter().flatten() {
        visit(graph, next, seen, left);
    }
    left.push(file.to_owned());
}
