//! Every key of a policy file, described for the reference and for editors.

use super::amount::{MemoryUnit, RoundingMode};
use super::example::Printing;
use super::inputs::SCOPES;
use super::policy::Subject;
use crate::diagnostics::description::{SectionDescription, ValueForm, optional, required, table, tables, texts, words};

use ValueForm::{Date, List, Named, Number, OneOf, Text, Words};

/// A number or a text.
fn scalar() -> ValueForm {
    OneOf(vec![Number, Text])
}

fn rows() -> ValueForm {
    List(Box::new(List(Box::new(scalar()))))
}

/// The policy file.
#[must_use]
pub fn policy_file() -> SectionDescription {
    SectionDescription {
        title: "Policy file",
        doc: "One version of one policy: for which jobs it holds and when, what a job costs, and worked examples.",
        keys: vec![
            required("id", Text, "A name that stays over all versions."),
            required("version", Text, "A name of this version."),
            required("title", Text, "One line for people."),
            required("source", Text, "Where the centre states it."),
            optional("note", Text, "What a reader should know."),
            optional("charges_for", words(Subject::WORDS), "What is charged; default `jobs`."),
            required("pool", Text, "What is drawn on."),
            required("unit", Text, "What a charge is counted in."),
            optional(
                "memory_unit",
                words(MemoryUnit::WORDS),
                "The unit of memory in formulas.",
            ),
            optional("valid_from", Date, "The first day on which it holds."),
            optional("valid_to", Date, "The first day on which it no longer holds."),
            optional("minimum_seconds", Number, "Seconds that a job is charged at least."),
            optional("minimum_charge", Number, "What a job is charged at least."),
            optional(
                "billing_is",
                Text,
                "The number that is compared with the billing of Slurm.",
            ),
            required("formula", Text, "What a job costs: an SQL expression."),
            optional("round", round(), "How a charge is rounded."),
            optional("scope", scope(), "For which jobs it holds; default all."),
            optional(
                "constants",
                Named(Box::new(scalar())),
                "Numbers and texts that formulas read.",
            ),
            optional(
                "unknown",
                Named(Box::new(scalar())),
                "The value used for an unknown column of a job.",
            ),
            optional("option", option(), "A choice that the policy leaves open."),
            optional(
                "input",
                input(),
                "A column of its own, for examples and for what is not a job.",
            ),
            optional("table", lookup(), "A table that is looked up by columns."),
            optional("devices", devices(), "A table that is looked up by the models of GPUs."),
            optional("let", steps(), "A number with a name, for formulas below."),
            optional("tier", tier(), "A number that is looked up by size."),
            required("example", example(), "A worked example."),
        ],
    }
}

fn round() -> ValueForm {
    let keys = vec![
        optional("digits", Number, "Decimal digits."),
        optional("mode", words(RoundingMode::WORDS), "Which way."),
    ];
    table("[round]", "How a charge is rounded.", keys)
}

fn scope() -> ValueForm {
    let mut keys: Vec<_> = SCOPES.map(|name| optional(name, texts(), "Only these.")).into();
    keys.push(optional("when", Text, "A condition in SQL."));
    table("[scope]", "For which jobs the policy holds.", keys)
}

fn option() -> ValueForm {
    let keys = vec![
        required("name", Text, "Its name, also a text that formulas read."),
        required("values", texts(), "What can be chosen."),
        required("default", Text, "What holds when nothing is chosen."),
        optional("doc", Text, "What it means."),
    ];
    tables("[[option]]", "A choice that the policy leaves open.", keys)
}

fn input() -> ValueForm {
    let keys = vec![
        required("name", Text, "Its name in formulas."),
        optional("type", Words(vec!["number", "text"]), "Default `number`."),
        required("doc", Text, "What it means."),
        optional(
            "license",
            Text,
            "The licence of job records that it is the number of, in upper or lower case; needs `absent`.",
        ),
        optional("absent", scalar(), "Its value where it is not known."),
    ];
    tables("[[input]]", "A column of its own.", keys)
}

fn lookup() -> ValueForm {
    let keys = vec![
        optional("title", Text, "One line for people."),
        required("by", texts(), "The columns it is looked up by."),
        required("gives", texts(), "Names of the columns it gives."),
        required("rows", rows(), "Keys and values."),
        optional("missing", List(Box::new(scalar())), "The values where no row is found."),
    ];
    tables("[[table]]", "A table that is looked up by columns.", keys)
}

fn devices() -> ValueForm {
    let keys = vec![
        optional("title", Text, "One line for people."),
        required(
            "gives",
            texts(),
            "Names of the columns it gives, summed over the GPUs of the job.",
        ),
        required("rows", rows(), "Model and values."),
        optional(
            "missing",
            List(Box::new(scalar())),
            "The values of a model that no row has, and of GPUs whose model is not named.",
        ),
    ];
    tables("[[devices]]", "A table that is looked up by the models of GPUs.", keys)
}

fn steps() -> ValueForm {
    let keys = vec![
        required("name", Text, "Its name in formulas below."),
        required("is", Text, "An SQL expression."),
        optional("doc", Text, "What it means."),
    ];
    tables("[[let]]", "A number with a name.", keys)
}

fn tier() -> ValueForm {
    let keys = vec![
        required("name", Text, "Its name in formulas below."),
        required("by", Text, "The number that is looked up."),
        required(
            "upper",
            Words(vec!["included", "excluded"]),
            "Whether a bound belongs to its own step, or to the next.",
        ),
        required("steps", rows(), "Pairs of bound and value."),
        optional("above", Number, "The value above the last bound."),
        optional("doc", Text, "What it means."),
    ];
    tables("[[tier]]", "A number that is looked up by size.", keys)
}

fn example() -> ValueForm {
    let value = OneOf(vec![scalar(), ValueForm::Truth, Named(Box::new(Number)), Date]);
    let keys = vec![
        required("name", Text, "One of its own for every example."),
        optional("options", Named(Box::new(Text)), "The options chosen."),
        required("in", Named(Box::new(value)), "What is known of the job."),
        required(
            "expect",
            OneOf(vec![Number, Words(vec!["not charged", "unknown"])]),
            "What it costs.",
        ),
        optional(
            "shows",
            Named(Box::new(Number)),
            "Numbers that the policy works out on the way.",
        ),
        optional("printed", Text, "What the page of the centre prints."),
        optional("printed_of", Text, "Of which number."),
        optional(
            "printed_is",
            words(Printing::WORDS),
            "How the printed number relates to the exact one.",
        ),
        optional("note", Text, "What a reader should know."),
    ];
    tables(
        "[[example]]",
        "A worked example: it is run wherever the policy is read.",
        keys,
    )
}
