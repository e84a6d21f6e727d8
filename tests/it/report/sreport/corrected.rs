//! Signed corrections in Slurm's tables.

use gridtally::report::sreport::SreportPeriod;
use gridtally::report::sreport::answer::SreportKind;

use super::{Job, MARCH, ask, hold, lake, used};
use crate::report::scene::Scene;

#[test]
fn corrections_are_in_every_table() {
    let over = ("2026-03-31T22:00:00", "2026-04-01T01:00:00");
    let tres = "billing=2,cpu=2,mem=1M,node=1";
    let jobs = || {
        [
            Job::new(1, ("ann", "fir"), MARCH, tres),
            Job::new(2, ("bea", "fir"), MARCH, tres),
            Job::new(3, ("bea", "fir"), over, tres),
        ]
    };
    for (attribution, moved_s, kept_s) in [("prorated", 21_600, 0), ("by-end", 7_200, 14_400)] {
        let scene = Scene::new();
        scene.write(
            "corrections.csv",
            "id,action,site,month,cluster,account,user,job_id,to_account,job_n,wall_s,alloc_core_s,author,reason,date\n\
             C1,void,OAK,,,,,1,,,,,E. Office,ran on a broken node,2026-04-02\n\
             C2,remap,OAK,2026-03,,fir,bea,,yew,,,,E. Office,another project,2026-04-02\n\
             C3,add,OAK,2026-03,oak,yew,,,,2,100,1000,E. Office,log lost,2026-04-03\n\
             C4,add,OAK,2026-04,oak,yew,,,,2,100,5000,E. Office,log lost,2026-04-03\n",
        );
        let pipeline = format!("corrections = \"corrections.csv\"\nattribution = \"{attribution}\"");
        let lake = lake(&scene, &jobs(), &pipeline, "");
        let yew = (moved_s + 1_000).to_string();
        let without = ask(&lake, SreportKind::AccountUtilization, |_| {});
        hold(&without, &[("oak|yew|cpu", &yew)]);
        let by_user = ask(&lake, SreportKind::AccountUtilizationByUser, |_| {});
        hold(
            &by_user,
            &[("oak|yew||cpu", &yew), ("oak|yew|bea|cpu", &moved_s.to_string())],
        );
        assert!(!used(&by_user).contains_key("oak|fir|ann|cpu"), "the job was taken out");
        // By end, the job over midnight is of April, and a correction of March is not about it.
        let fir = used(&by_user).get("oak|fir|bea|cpu").cloned();
        assert_eq!(fir, (kept_s > 0).then(|| kept_s.to_string()), "{attribution}");
        let notes = "correction C3 adds usage and does not state its mem, node, billing, gres/gpu: those lines do not contain it";
        assert!(by_user.notes.iter().any(|note| note == notes), "{:#?}", by_user.notes);

        let top = ask(&lake, SreportKind::TopUsage, |_| {});
        hold(&top, &[("oak|bea|yew|cpu", &moved_s.to_string())]);
        let nobody = "1000 core seconds of which nothing names the user are left out";
        assert!(top.notes.iter().any(|note| note == nobody), "{:#?}", top.notes);

        let sizes = ask(&lake, SreportKind::SizesByAccount, |request| request.edges = vec![2]);
        let line = |account: &str| {
            let row = sizes.table.rows.iter().find(|row| row[1].to_string() == account);
            row.map(|row| row[3].to_string())
        };
        assert_eq!(line("yew"), Some(moved_s.to_string()));
        assert_eq!(line("fir"), (kept_s > 0).then(|| kept_s.to_string()));
        assert!(
            sizes.notes.iter().any(|note| note.starts_with("correction C3 ")),
            "{:#?}",
            sizes.notes
        );

        let utilization = ask(&lake, SreportKind::Utilization, |_| {});
        let cores = &utilization.table.rows[0];
        assert_eq!(
            cores[2].to_string(),
            (moved_s + kept_s + 1_000).to_string(),
            "allocated"
        );
        assert_eq!(cores[8].to_string(), "", "the resources of the cluster are unknown");

        // An addition to a month is not cut.
        let part = ask(&lake, SreportKind::AccountUtilization, |request| {
            let zone = lake.zone().unwrap();
            request.period = SreportPeriod::between("2026-03-10T00:00", "2026-03-11T00:00", &zone).unwrap();
        });
        hold(&part, &[("oak|yew|cpu", "7200")]);
        let left_out = "correction C3 adds to 2026-03 as a whole, of which the period holds a part: it is left out";
        assert!(part.notes.iter().any(|note| note == left_out), "{:#?}", part.notes);
    }
}
