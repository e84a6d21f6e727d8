//! Paths of a Rust file: what it imports, and what it names by path.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One name a `use` brings in.
#[derive(Clone, Debug)]
pub(super) struct Used {
    /// The path as it is written.
    pub(super) path: Vec<String>,
    /// What it is called here; `None` for `*`.
    pub(super) name: Option<String>,
    pub(super) line: usize,
}

/// The paths of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    pub(super) used: Vec<Used>,
    /// Paths of at least two segments outside of `use`, with their line.
    pub(super) named: Vec<(Vec<String>, usize)>,
}

/// Reads a file.
pub(super) fn paths(text: &str) -> Paths {
    let tokens: TokenStream = text.parse().unwrap();
    let mut paths = Paths::default();
    walk(&tokens.into_iter().collect::<Vec<_>>(), &mut paths);
    paths
}

fn walk(tokens: &[TokenTree], into: &mut Paths) {
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            // `impl Trait + use<'a>` imports nothing.
            TokenTree::Ident(word) if *word == "use" && !tokens.get(at + 1).is_some_and(|next| is_punct(next, '<')) => {
                let end = at + tokens[at..].iter().position(|token| is_punct(token, ';')).unwrap_or(1);
                tree(&tokens[at + 1..end], &[], &mut into.used);
                at = end;
            }
            TokenTree::Ident(word) => {
                let is_first = at == 0 || !(is_punct(&tokens[at - 1], ':') || is_punct(&tokens[at - 1], '.'));
                let line = word.span().start().line;
                let mut path = vec![word.to_string()];
                while let Some([a, b, TokenTree::Ident(next)]) = tokens.get(at + 1..at + 4)
                    && is_punct(a, ':')
                    && is_punct(b, ':')
                {
                    path.push(next.to_string());
                    at += 3;
                }
                if is_first && path.len() > 1 {
                    into.named.push((path, line));
                }
            }
            TokenTree::Group(group) => walk(&group.stream().into_iter().collect::<Vec<_>>(), into),
            _ => {}
        }
        at += 1;
    }
}

/// The leaves of a tree of `use`, with their path.
fn tree(tokens: &[TokenTree], before: &[String], into: &mut Vec<Used>) {
    for branch in tokens.split(|token| is_punct(token, ',')) {
        let mut path = before.to_vec();
        let mut line = 0;
        let mut name = None;
        let mut is_leaf = true;
        let mut words = branch.iter().peekable();
        while let Some(token) = words.next() {
            match token {
                TokenTree::Ident(word) if *word == "as" => {
                    name = words.next().map(ToString::to_string);
                }
                TokenTree::Ident(word) => {
                    line = word.span().start().line;
                    if *word != "self" || path.is_empty() {
                        path.push(word.to_string());
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    let line = punct.span().start().line;
                    let path = path.clone();
                    into.push(Used { path, name: None, line });
                    is_leaf = false;
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    tree(&group.stream().into_iter().collect::<Vec<_>>(), &path, into);
                    is_leaf = false;
                }
                _ => {}
            }
        }
        if is_leaf && !path.is_empty() && !branch.is_empty() {
            let name = name.or_else(|| path.last().cloned());
            into.push(Used { path, name, line });
        }
    }
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}
