//! What the functions of a Rust file take.

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
    /// Whether its type is, holds or refers to a tuple of two or more. What a closure or a function pointer takes is
    /// its own signature and does not count.
    pub(super) fn has_tuple(&self) -> bool {
        has_tuple(&self.written)
    }
}

/// The parameters of every function and method of a file, those of traits as well; closures and receivers not.
pub(super) fn parameters(text: &str) -> Vec<Parameter> {
    let tokens: TokenStream = text.parse().unwrap();
    let mut found = Vec::new();
    walk(&tokens.into_iter().collect::<Vec<_>>(), &mut found);
    found
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

fn has_tuple(written: &[TokenTree]) -> bool {
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
            if is_tuple || has_tuple(&inner) {
                return true;
            }
        }
        at += 1;
    }
    false
}

fn is_callable(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(word) if ["Fn", "FnMut", "FnOnce", "fn"].iter().any(|name| word == name))
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
