//! Jobs that wait, as a listing of the queue states them: what they will use of awards at most.

use super::scene::{HEADER, Scene, job};

const TABLE: &str = "award,account,policy,amount,unit,valid_from,valid_to,cluster\n\
    A,rrg-ice,ce,1,core_year,2025-04-01,2026-04-01,cedar\n\
    B,def-moor,ce,1,core_year,2025-04-01,2026-04-01,cedar\n";

/// A waiting job of `account`, with other keys.
fn waiting(id: u32, account: &str, limit: &str, requested: &str, besides: &str) -> String {
    format!(
        "JobId={id} {besides}JobName=j\n   UserId=ada(7) GroupId=g(1)\n   Priority=1 Nice=0 Account={account} QOS=normal\n   \
         JobState=PENDING Reason=Resources\n   TimeLimit={limit}\n   SubmitTime=2025-06-12T00:00:00 EligibleTime=Unknown\n   \
         Partition=cpu\n   NumNodes=1 NumCPUs=2\n   ReqTRES={requested}\n\n"
    )
}

fn scene(queue: &str) -> Scene {
    let scene = Scene::new();
    scene.write(
        "jobs.txt",
        &(HEADER.to_owned() + &job(1, "ada", "rrg-ice", "cedar", "2025-05-01T00:00:00", 200, 1)),
    );
    scene.write("awards.csv", TABLE);
    scene.write("queue.txt", queue);
    scene.pipeline(
        "[awards]\ntable = \"awards.csv\"\n[[inventory]]\nname = \"queue\"\npaths = [\"queue*.txt\"]\nsite = \"ALP\"\n\
         cluster = \"cedar\"\ntimezone = \"UTC\"\nas_of = \"2025-06-12\"\n",
    );
    scene.run();
    scene
}

/// A column of the row of an award.
fn cell(scene: &Scene, arguments: &[&str], award: &str, column: &str) -> String {
    let rows = scene.rows(arguments);
    rows.iter().find(|row| row["award"] == award).unwrap()[column].clone()
}

const ON: [&str; 2] = ["--on", "2025-06-12"];

#[test]
fn waiting_jobs_are_pending_to_their_limits_with_what_they_request() {
    // Two cores with 16 GiB count as four: for a day, and nine tasks of an array for an hour each with two cores.
    let queue = [
        waiting(11, "rrg-ice", "1-00:00:00", "cpu=2,mem=16G,node=1,billing=2", ""),
        waiting(
            12,
            "rrg-ice",
            "01:00:00",
            "cpu=2,mem=8G,node=1,billing=2",
            "ArrayJobId=12 ArrayTaskId=1-7:2,10-14%3 ",
        ),
        // A limit of nothing is unknown, and what is of another account is not of this award.
        waiting(13, "rrg-ice", "UNLIMITED", "cpu=2,mem=8G,node=1", ""),
        waiting(14, "other", "01:00:00", "cpu=2,mem=8G,node=1", ""),
    ];
    let scene = scene(&queue.concat());
    // 96 + 18 of 8760 hours.
    assert_eq!(cell(&scene, &ON, "A", "pending"), "0.013013699");
    assert_eq!(cell(&scene, &ON, "B", "pending"), "0.000000000");
    // No dump states a running job.
    assert_eq!(cell(&scene, &ON, "A", "in_flight"), "");
    // 200 hours were used.
    let to_limits = [ON[0], ON[1], "--method", "jobs-to-limits"];
    assert_eq!(cell(&scene, &to_limits, "A", "projected"), "0.035844749");
    let output = scene.gridtally(&["report", "awards", "lake", "--on", "2025-06-12", "-v"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("1 waiting jobs have no account, limit or charge"),
        "{stderr}"
    );
    // Before it was listed the queue is unknown.
    assert_eq!(cell(&scene, &["--on", "2025-06-11"], "A", "pending"), "");
}

#[test]
fn only_the_newest_listing_of_a_cluster_counts() {
    let scene = scene(&waiting(11, "rrg-ice", "1-00:00:00", "cpu=2,mem=8G,node=1", ""));
    assert_eq!(cell(&scene, &ON, "A", "pending"), "0.005479452");
    let pipeline = std::fs::read_to_string(scene.path("p.toml")).unwrap();
    scene.write(
        "p.toml",
        &pipeline.replace("as_of = \"2025-06-12\"", "as_of = \"path\""),
    );
    std::fs::remove_file(scene.path("queue.txt")).unwrap();
    scene.write(
        "queue-2025-06-12.txt",
        &waiting(11, "rrg-ice", "1-00:00:00", "cpu=2,mem=8G,node=1", ""),
    );
    scene.write(
        "queue-2025-06-13.txt",
        &waiting(15, "rrg-ice", "10:00:00", "cpu=1,mem=4G,node=1", ""),
    );
    scene.run();
    assert_eq!(cell(&scene, &["--on", "2025-06-13"], "A", "pending"), "0.001141553");
}

#[test]
fn what_a_listing_does_not_state_leaves_the_charge_unknown_and_not_zero() {
    // Without memory, core equivalents are unknown; a list of tasks that was cut off cannot be counted.
    let queue = [
        waiting(11, "rrg-ice", "1-00:00:00", "cpu=2,node=1", ""),
        waiting(
            12,
            "rrg-ice",
            "01:00:00",
            "cpu=2,mem=8G,node=1",
            "ArrayJobId=12 ArrayTaskId=1-7:2,10,... ",
        ),
        waiting(13, "rrg-ice", "01:00:00", "cpu=2,mem=8G,node=1", ""),
    ];
    let scene = scene(&queue.concat());
    assert_eq!(cell(&scene, &ON, "A", "pending"), "0.000228311");
    let output = scene.gridtally(&["report", "awards", "lake", "--on", "2025-06-12", "-v"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("2 waiting jobs have no account, limit or charge"),
        "{stderr}"
    );
}

/// The columns of a dump with a job that has started or ended.
const RECORDS: &str = "JobIDRaw|JobID|User|Account|Cluster|Partition|Submit|Start|End|ElapsedRaw|State|NCPUS|NNodes|AllocTRES|TimelimitRaw\n";

#[test]
fn jobs_that_have_started_or_ended_wait_no_longer() {
    let queue = [
        waiting(11, "rrg-ice", "1-00:00:00", "cpu=2,mem=8G,node=1", ""),
        waiting(
            12,
            "rrg-ice",
            "01:00:00",
            "cpu=2,mem=8G,node=1",
            "ArrayJobId=12 ArrayTaskId=1-10 ",
        ),
        waiting(30, "rrg-ice", "1-00:00:00", "cpu=2,mem=8G,node=1", ""),
    ];
    let scene = scene(&queue.concat());
    // 48 + 20 + 48 of 8760 hours.
    assert_eq!(cell(&scene, &ON, "A", "pending"), "0.013242009");
    // Job 11 runs since, two tasks have ended, job 30 was cancelled. A former attempt of a task, and a job of another cluster
    // with the number of one, are none of them.
    let ran = "billing=2,cpu=2,mem=8G,node=1";
    scene.write(
        "jobs-later.txt",
        &format!(
            "{RECORDS}\
             11|11|ada|rrg-ice|cedar|cpu|2025-06-12T00:00:00|2025-06-13T00:00:00|Unknown|21600|RUNNING|2|1|{ran}|1440\n\
             13|12_3|ada|rrg-ice|cedar|cpu|2025-06-12T00:00:00|2025-06-13T00:00:00|2025-06-13T01:00:00|3600|COMPLETED|2|1|{ran}|60\n\
             14|12_4|ada|rrg-ice|cedar|cpu|2025-06-12T00:00:00|2025-06-13T00:00:00|2025-06-13T01:00:00|3600|COMPLETED|2|1|{ran}|60\n\
             15|12_5|ada|rrg-ice|cedar|cpu|2025-06-11T00:00:00|2025-06-11T00:00:00|2025-06-11T01:00:00|3600|NODE_FAIL|2|1|{ran}|60\n\
             16|12_6|ada|rrg-ice|graham|cpu|2025-06-12T00:00:00|2025-06-13T00:00:00|2025-06-13T01:00:00|3600|COMPLETED|2|1|{ran}|60\n\
             30|30|ada|rrg-ice|cedar|cpu|2025-06-12T00:00:00|Unknown|2025-06-13T00:00:00|0|CANCELLED|0|1||1440\n"
        ),
    );
    scene.run();
    // On the day they were listed all of them waited; a day later eight tasks of an hour do.
    assert_eq!(cell(&scene, &ON, "A", "pending"), "0.013242009");
    assert_eq!(cell(&scene, &["--on", "2025-06-13"], "A", "pending"), "0.001826484");
    // What job 11 will still use is in flight: 36 of 8760 hours.
    assert_eq!(cell(&scene, &["--on", "2025-06-13"], "A", "in_flight"), "0.004109589");
}

#[test]
fn no_use_is_to_come_after_the_end_of_an_award() {
    // Listed six and twelve hours before the end; both may run for ten days.
    let queue = waiting(11, "rrg-ice", "10-00:00:00", "cpu=2,mem=8G,node=1", "");
    let scene = scene(&queue);
    scene.write(
        "awards.csv",
        "award,account,policy,amount,unit,valid_from,valid_to,cluster\n\
         A,rrg-ice,ce,1000,core_equivalent_hour,2025-04-01,2025-06-13,cedar\n",
    );
    scene.write(
        "jobs-running.txt",
        &format!(
            "{RECORDS}90|90|ada|rrg-ice|cedar|cpu|2025-06-12T00:00:00|2025-06-12T00:00:00|Unknown|43200|RUNNING|2|1|\
             billing=2,cpu=2,mem=8G,node=1|14400\n"
        ),
    );
    scene.run();
    assert_eq!(
        cell(&scene, &ON, "A", "in_flight"),
        "24.000000000",
        "two cores for half a day"
    );
    assert_eq!(cell(&scene, &ON, "A", "pending"), "48.000000000", "two cores for a day");
    // 200 hours before, and 24 of the running job so far.
    let to_limits = [ON[0], ON[1], "--method", "jobs-to-limits", "-v"];
    assert_eq!(cell(&scene, &to_limits[..4], "A", "used"), "224.000000000");
}
