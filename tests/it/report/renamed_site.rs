//! Documents of a site that was renamed: GRACC's id of a document does not have the site.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};

use gridtally::report::apel::users::Users;
use gridtally::report::gracc;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::publication::exporter::Exporter;
use gridtally::report::publication::ledger::{PublicationState, load};
use gridtally::report::publication::plan::plan;
use gridtally::report::publication::terms::Terms;

use super::scene::{Scene, send};
use crate::support::forge::carry_books;

/// The instant of the next publication: two of one instant would have one name.
static TURN: AtomicI64 = AtomicI64::new(1_780_000_000_000);

/// What GRACC holds: site and wall seconds of a document by its id.
type Held = BTreeMap<Vec<String>, (String, i64)>;

/// A lake of jobs, of which each is a document of its own: site, project and wall seconds.
fn lake(scene: &Scene, jobs: &[(&str, &str, i64)]) -> Lake {
    let mut text = String::new();
    for (site, project, wall_s) in jobs {
        let _ = writeln!(
            text,
            "{{\"SiteName\":\"{site}\",\"ProbeName\":\"slurm:ce1\",\"Grid\":\"OSG\",\"VOName\":\"reef\",\"ProjectName\":\"{project}\",\
             \"LocalJobId\":\"{site}-{project}\",\"StartTime\":\"2025-03-01T01:00:00Z\",\"EndTime\":\"2025-03-01T05:00:00Z\",\
             \"WallDuration\":{wall_s},\"CpuDuration\":{wall_s},\"Processors\":1}}"
        );
    }
    scene.write("in/raw.ndjson", &text);
    let input = scene.path("in/raw.ndjson");
    scene.lake(
        "lake",
        &format!("format = \"gracc\"\npaths = ['{}']\n", input.display()),
        "",
    )
}

fn exporter(sites: &[&str]) -> Exporter {
    Exporter::Gracc {
        selection: Selection {
            sites: sites.iter().map(|site| (*site).to_owned()).collect(),
            ..Selection::default()
        },
        users: Users::Keep,
    }
}

/// Sends what differs to GRACC, whose documents replace by id in the order in which they come; or, where the files of a
/// publication are taken backwards, in the other one. Returns how many documents were sent.
fn hand_over(lake: &Lake, sites: &[&str], held: &mut Held, is_backwards: bool) -> usize {
    let planned = plan(lake, &exporter(sites), "gracc", &Terms::default()).unwrap();
    let mut lines: Vec<String> = Vec::new();
    send(
        lake,
        "gracc",
        &planned,
        TURN.fetch_add(1, Ordering::Relaxed),
        &mut |_, _, _| Ok(()),
        &mut |_, _, _, _, text| {
            lines.extend(text.lines().map(str::to_owned));
            Ok(())
        },
    )
    .unwrap();
    if is_backwards {
        lines.reverse();
    }
    for line in &lines {
        let fields = gracc::fields_of(line);
        let keys = gracc::KEYS.iter().filter(|key| **key != gracc::SITE);
        let id = keys.map(|key| fields[*key].clone()).collect();
        let wall_s = fields["WallDuration"].parse::<f64>().unwrap();
        held.insert(
            id,
            (fields[gracc::SITE].clone(), format!("{wall_s:.0}").parse().unwrap()),
        );
    }
    lines.len()
}

fn values(held: &Held) -> Vec<(&str, i64)> {
    let mut values: Vec<(&str, i64)> = held.values().map(|(site, wall_s)| (site.as_str(), *wall_s)).collect();
    values.sort_unstable();
    values
}

/// The lake of each step is another one, which takes over the books.
#[derive(Default)]
struct Steps {
    last: Option<Scene>,
    held: Held,
    is_backwards: bool,
}

impl Steps {
    /// Hands over the jobs of some sites; what GRACC holds then.
    fn step(&mut self, jobs: &[(&str, &str, i64)], sites: &[&str]) -> Vec<(&str, i64)> {
        let scene = Scene::new();
        let lake = lake(&scene, jobs);
        if let Some(last) = &self.last {
            carry_books(&last.path("lake"), &scene.path("lake"));
        }
        hand_over(&lake, sites, &mut self.held, self.is_backwards);
        assert_eq!(
            hand_over(&lake, sites, &mut self.held, self.is_backwards),
            0,
            "{jobs:?} {sites:?}"
        );
        self.last = Some(scene);
        values(&self.held)
    }

    fn states(&self) -> Vec<(String, PublicationState)> {
        let lake = Lake::open(self.last.as_ref().unwrap().path("lake").to_str().unwrap()).unwrap();
        let entries = load(&lake.store).unwrap();
        entries
            .into_iter()
            .map(|entry| (entry.place.site, entry.state))
            .collect()
    }
}

/// A renamed site keeps its usage at GRACC, whichever file comes last; a job that is gone is taken back.
#[test]
fn documents_of_a_renamed_site_are_not_taken_back() {
    for (old, new) in [("OAK-T2", "OAK-NEW"), ("OAK-NEW", "OAK-T2")] {
        for is_backwards in [false, true] {
            let mut steps = Steps {
                is_backwards,
                ..Steps::default()
            };
            let both = [(old, "a", 100), (old, "b", 70)];
            assert_eq!(steps.step(&both, &[]), [(old, 70), (old, 100)]);
            let mut renamed = [(new, 100), (old, 0)];
            renamed.sort_unstable();
            assert_eq!(steps.step(&[(new, "a", 100)], &[]), renamed);
            let of = |state| steps.states().iter().filter(|(_, other)| *other == state).count();
            let counted = [PublicationState::Respelled, PublicationState::Retracted].map(of);
            assert_eq!(counted, [1, 1], "{old}");
            // Renamed back, with other usage.
            let back = steps.step(&[(old, "a", 120), (old, "b", 70)], &[]);
            assert_eq!(back, [(old, 70), (old, 120)]);
            let again = steps.step(&[(new, "a", 120), (new, "b", 70)], &[]);
            assert_eq!(again, [(new, 70), (new, 120)]);
        }
    }
}

/// Where the sites are reported one by one, GRACC has the usage in either order.
#[test]
fn a_renamed_site_is_reported_site_by_site() {
    for orders in [["OAK-T2", "OAK-NEW"], ["OAK-NEW", "OAK-T2"]] {
        let mut steps = Steps::default();
        steps.step(&[("OAK-T2", "a", 100)], &["OAK-T2"]);
        for site in orders {
            steps.step(&[("OAK-NEW", "a", 110)], &[site]);
        }
        assert_eq!(values(&steps.held), [("OAK-NEW", 110)], "{orders:?}");
        for site in orders {
            steps.step(&[("OAK-T2", "a", 110)], &[site]);
        }
        assert_eq!(values(&steps.held), [("OAK-T2", 110)], "{orders:?}");
    }
}

/// Of two sites with one id the document of one is there; when its site loses it, that of the other is sent again.
#[test]
fn a_document_that_another_site_replaced_is_sent_again() {
    let mut steps = Steps::default();
    let both = [("OAK-NEW", "a", 100), ("OAK-T2", "a", 30)];
    assert_eq!(steps.step(&both, &[]), [("OAK-T2", 30)]);
    assert_eq!(steps.step(&both[..1], &[]), [("OAK-NEW", 100)]);
}

/// A document that is not exported under its new site is taken back under the former one.
#[test]
fn what_is_left_out_under_the_new_site_is_taken_back() {
    let mut steps = Steps::default();
    steps.step(&[("OAK-T2", "a", 100)], &[]);
    assert_eq!(
        steps.step(&[("OAK-NEW", "b", 100)], &[]),
        [("OAK-NEW", 100), ("OAK-T2", 0)]
    );
}
