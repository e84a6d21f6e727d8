//! What the functions of a Rust file take.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One parameter of a function or method.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) function: String,
    /// Its pattern as it is written, which is its name but for patterns that take apart.
    pub(super) name: String,
    written: Vec<TokenTree>,
}

impl Parameter {
    /// Whether its type is, holds or refers to a tuple of two or more, or names one of `aliases`. What a closure or a
    /// function pointer takes is its own signature and does not count.
    pub(super) fn has_tuple(&self, aliases: &BTreeSet<String>) -> bool {
        has_tuple(&self.written, aliases)
    }
}

/// The parameters of every function and method of a file, those of traits as well; closures and receivers not.
pub(super) fn parameters(text: &str) -> Vec<Parameter> {
    let tokens: TokenStream = text.parse().unwrap();
    let mut found = Vec::new();
    walk(&tokens.into_iter().collect::<Vec<_>>(), &mut found);
    found
}

/// A name that stands for another type.
struct TypeAlias {
    name: String,
    written: Vec<TokenTree>,
}

/// The names of types that are, hold or refer to a tuple of two or more: aliases of all these files, whatever other
/// aliases they are made of, and what imports rename them to. Associated types are no names of their own.
pub(super) fn tuple_aliases<'t>(texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<String> {
    let mut aliases = Vec::new();
    for text in texts {
        let tokens: TokenStream = text.parse().unwrap();
        find_aliases(&tokens.into_iter().collect::<Vec<_>>(), false, &mut aliases);
    }
    let mut names = BTreeSet::new();
    loop {
        let known_n = names.len();
        for alias in &aliases {
            if has_tuple(&alias.written, &names) {
                names.insert(alias.name.clone());
            }
        }
        if names.len() == known_n {
            return names;
        }
    }
}

fn find_aliases(tokens: &[TokenTree], is_associated: bool, into: &mut Vec<TypeAlias>) {
    let mut item = 0;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match token {
            TokenTree::Ident(word) if *word == "type" && !is_associated => {
                if let Some(TokenTree::Ident(name)) = next {
                    let written = tokens[at + 2..].iter();
                    into.push(TypeAlias {
                        name: name.to_string(),
                        written: written
                            .take_while(|token| !is_punct(Some(token), ';'))
                            .cloned()
                            .collect(),
                    });
                }
            }
            TokenTree::Ident(word) if *word == "as" => {
                let known = at.checked_sub(1).map(|known| &tokens[known]);
                if let (Some(known @ TokenTree::Ident(_)), Some(TokenTree::Ident(name))) = (known, next) {
                    into.push(TypeAlias {
                        name: name.to_string(),
                        written: vec![known.clone()],
                    });
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => item = at + 1,
            TokenTree::Group(group) => {
                let has = |wanted: &str| tokens[item..at].iter().any(|token| is_word(token, wanted));
                let is_block = group.delimiter() == Delimiter::Brace;
                let is_associated = is_block && (has("impl") || has("trait")) && !has("fn");
                let inner: Vec<_> = group.stream().into_iter().collect();
                find_aliases(&inner, is_associated, into);
                if is_block {
                    item = at + 1;
                }
            }
            _ => {}
        }
    }
}

fn walk(tokens: &[TokenTree], into: &mut Vec<Parameter>) {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if *word == "fn" => {
                if let Some(TokenTree::Ident(function)) = tokens.get(at + 1) {
                    let taken = tokens[at + 2..]
                        .iter()
                        .zip(depths(&tokens[at + 2..]))
                        .find_map(|(token, depth)| {
                            let TokenTree::Group(group) = token else { return None };
                            (depth == 0 && group.delimiter() == Delimiter::Parenthesis).then(|| group.stream())
                        });
                    let taken: Vec<_> = taken.into_iter().flatten().collect();
                    into.extend(parts(&taken).filter_map(|part| parameter(&function.to_string(), part)));
                }
            }
            TokenTree::Group(group) => walk(&group.stream().into_iter().collect::<Vec<_>>(), into),
            _ => {}
        }
    }
}

/// One parameter; `None` for `self`.
fn parameter(function: &str, written: &[TokenTree]) -> Option<Parameter> {
    let colon = (0..written.len()).find(|at| {
        let is_path = is_punct(written.get(at + 1), ':') || (*at > 0 && is_punct(written.get(at - 1), ':'));
        is_punct(written.get(*at), ':') && !is_path
    })?;
    let name: TokenStream = written[..colon].iter().cloned().collect();
    Some(Parameter {
        function: function.to_owned(),
        name: name.to_string(),
        written: written[colon + 1..].to_vec(),
    })
}

fn has_tuple(written: &[TokenTree], aliases: &BTreeSet<String>) -> bool {
    let depths = depths(written);
    let mut at = 0;
    while at < written.len() {
        if is_callable(&written[at]) {
            // What it takes and gives, to the next bound or argument.
            let ends = |token: &TokenTree| is_punct(Some(token), '+') || is_punct(Some(token), ',');
            let depth = depths[at];
            let after =
                (at..written.len()).find(|at| depths[*at] < depth || depths[*at] == depth && ends(&written[*at]));
            at = after.unwrap_or(written.len());
        } else if let TokenTree::Group(group) = &written[at] {
            let inner: Vec<_> = group.stream().into_iter().collect();
            let is_tuple = group.delimiter() == Delimiter::Parenthesis && parts(&inner).count() > 1;
            if is_tuple || has_tuple(&inner, aliases) {
                return true;
            }
        } else if let TokenTree::Ident(name) = &written[at]
            && aliases.contains(&name.to_string())
        {
            return true;
        }
        at += 1;
    }
    false
}

fn is_callable(token: &TokenTree) -> bool {
    ["Fn", "FnMut", "FnOnce", "fn"].iter().any(|name| is_word(token, name))
}

fn is_word(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if *word == wanted)
}

/// The texts between commas outside of brackets.
fn parts(tokens: &[TokenTree]) -> impl Iterator<Item = &[TokenTree]> {
    let depths = depths(tokens);
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        if is_punct(Some(token), ',') && depths[at] == 0 {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts.into_iter().filter(|part| !part.is_empty())
}

/// In how many angle brackets each token is.
fn depths(tokens: &[TokenTree]) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut depths = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        if is_punct(Some(token), '<') {
            depth += 1;
        } else if is_punct(Some(token), '>') && !(at > 0 && is_punct(tokens.get(at - 1), '-')) {
            depth = depth.saturating_sub(1);
        }
        depths.push(depth);
    }
    depths
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}
