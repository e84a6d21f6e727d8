//! Inputs made from the grammar of each dialect: sound but for the values, which are now and then at a limit.

use crate::generator::rng::Rng;

/// First second of the jobs: 2026-10-01 in UTC.
pub(super) const EPOCH_S: i64 = 1_790_812_800;

/// Texts put in place of a number or a name now and then.
pub(super) const ODD: &[&str] = &[
    "",
    "0",
    "-1",
    "1",
    "2147483648",
    "4294967296",
    "99999999",
    "100000000",
    "100000001",
    "99999999999999",
    "100000000000000",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
    "NaN",
    "0.5",
    "99:99:99",
    "9999999:59:59",
    "UNLIMITED",
    "Unknown",
    "é\u{301}\u{202e}",
    "../../x",
    "=1+1",
    "a b",
    "\u{feff}",
    "c[1-3000]",
    "c[1-",
    "99999999999999999999999999G",
];

/// A line of one of several dialects.
type Line = fn(&mut Rng, i64) -> String;

/// The format of a source, a header before the lines, and how a line is made.
pub(super) const DIALECTS: &[(&str, &str, Line)] = &[
    ("pbs", "", pbs),
    ("sge", "", sge),
    ("lsf", "", lsf),
    ("htcondor", "", condor),
    (
        "sacct",
        "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|Suspended|NCPUS|NNodes|AllocTRES|TotalCPU|NodeList\n",
        sacct,
    ),
    ("apel", "APEL-individual-job-message: v0.3\n", apel),
    ("gracc", "", gracc),
    ("swf", "; UnixStartTime: 1790812800\n", swf),
];

/// A usual value, or one in 40 times an odd one.
fn value(rng: &mut Rng, usual: &impl ToString) -> String {
    if rng.one_in(40) {
        rng.pick(ODD).to_owned()
    } else {
        usual.to_string()
    }
}

/// When a job was submitted, started and ended, Unix seconds.
fn times(rng: &mut Rng) -> (i64, i64, i64) {
    let submit_s = EPOCH_S + rng.between(0, 50 * 86_400);
    let start_s = submit_s + rng.between(0, 7200);
    let most_s = if rng.one_in(20) { 40 * 86_400 } else { 86_400 };
    (submit_s, start_s, start_s + rng.between(0, most_s))
}

fn civil(s: i64, format: &str) -> String {
    jiff::Timestamp::from_second(s).unwrap().strftime(format).to_string()
}

fn clock(s: i64) -> String {
    format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

fn user(rng: &mut Rng) -> String {
    let nth = rng.between(0, 6);
    value(rng, &format!("user{nth}"))
}

fn node(rng: &mut Rng) -> String {
    format!("n{:02}", rng.between(1, 9))
}

fn pbs(rng: &mut Rng, id: i64) -> String {
    let (submit_s, start_s, end_s) = times(rng);
    let (core_n, node) = (rng.between(1, 9), node(rng));
    let slots: Vec<String> = (0..core_n).map(|slot| format!("{node}/{slot}")).collect();
    let hosts = if rng.one_in(2) {
        format!("{node}/0*{core_n}")
    } else {
        slots.join("+")
    };
    let mut cells = vec![
        ("user", user(rng)),
        ("group", value(rng, &"phys")),
        ("queue", value(rng, &"long")),
        ("ctime", value(rng, &submit_s)),
        ("qtime", value(rng, &submit_s)),
        ("etime", value(rng, &submit_s)),
        ("start", value(rng, &start_s)),
        ("exec_host", value(rng, &hosts)),
        ("Resource_List.ncpus", value(rng, &core_n)),
        ("Resource_List.nodect", value(rng, &1)),
        ("Resource_List.walltime", value(rng, &"96:00:00")),
        ("end", value(rng, &end_s)),
        ("Exit_status", value(rng, &0)),
        ("resources_used.cput", value(rng, &clock((end_s - start_s) * core_n))),
        ("resources_used.mem", value(rng, &"2031040kb")),
        ("resources_used.walltime", value(rng, &clock(end_s - start_s))),
    ];
    if rng.one_in(10) {
        let at = rng.between(0, i64::try_from(cells.len()).unwrap());
        cells.remove(usize::try_from(at).unwrap());
    }
    let cells: Vec<String> = cells.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let (at, kind) = (
        civil(end_s, "%m/%d/%Y %H:%M:%S"),
        rng.pick(&["E", "E", "E", "E", "S", "Q", "D", "A"]),
    );
    format!(
        "{at};{kind};{};{}\n",
        value(rng, &format!("{id}.server")),
        cells.join(" ")
    )
}

fn sge(rng: &mut Rng, id: i64) -> String {
    let (submit_s, start_s, end_s) = times(rng);
    let wall_s = end_s - start_s;
    let mut cells = vec![
        value(rng, &"large"),
        node(rng),
        value(rng, &"phys"),
        user(rng),
        value(rng, &"job.sh"),
        value(rng, &id),
        "sge".to_owned(),
        "0".to_owned(),
        value(rng, &submit_s),
        value(rng, &start_s),
        value(rng, &end_s),
        value(rng, &rng_code(id)),
        value(rng, &0),
        value(rng, &wall_s),
        value(rng, &format!("{wall_s}.5")),
        value(rng, &"0.012998"),
        value(rng, &"1448.000000"),
    ];
    cells.extend("0:0:0:0:1060:0:0:0.000000:168:0:0:0:89:2".split(':').map(str::to_owned));
    for cell in ["por_defecto", "defaultdepartment", "mpi"] {
        cells.push(value(rng, &cell));
    }
    let slots = rng.between(1, 17);
    cells.push(value(rng, &slots));
    for cell in [
        "0",
        "1026706.5",
        "60207.2",
        "0.001862",
        "-q large -l h_rt=180300",
        "0.000000",
        "NONE",
        "821923840.0",
        "0",
        "0",
    ] {
        cells.push(value(rng, &cell));
    }
    cells.join(":") + "\n"
}

fn rng_code(id: i64) -> i64 {
    if id % 7 == 0 { 100 } else { 0 }
}

fn lsf(rng: &mut Rng, id: i64) -> String {
    let (submit_s, start_s, end_s) = times(rng);
    let host_n = rng.between(1, 5);
    let node = node(rng);
    let hosts = format!("\"{node}\" ").repeat(usize::try_from(host_n).unwrap());
    let (user, cpu_s) = (user(rng), (end_s - start_s) * host_n);
    let (end_s, id, submit_s, start_s) = (
        value(rng, &end_s),
        value(rng, &id),
        value(rng, &submit_s),
        value(rng, &start_s),
    );
    let (user_s, host_n) = (value(rng, &format!("{cpu_s}.25")), value(rng, &host_n));
    format!(
        "\"JOB_FINISH\" \"5.1\" {end_s} {id} 283 33554482 1 {submit_s} 0 0 {start_s} \"{user}\" \"8nm\" \"\" \"\" \"\" \
         \"lxplus015\" \"prog/step\" \"\" \"log.txt\" \"err.txt\" \"1089290023.699195\" 0 {host_n} {hosts}64 3.3 \"\" \
         \"cmd \"\"x\"\" 1\" {user_s} 17.280000 0 0 -1 0 0 927804 87722 0 0 0 -1 0 0 0 0 0 -1 \"\" \"default\" 0 1 \"\" \
         \"\" 0 310424 339112 \"\" \"\" \"\"\n"
    )
}

fn condor(rng: &mut Rng, id: i64) -> String {
    let (_, start_s, end_s) = times(rng);
    let core_n = rng.between(1, 9);
    let wall_s = end_s - start_s;
    let cells = [
        value(rng, &format!("ce.example.org#{id}.0#{id}")),
        user(rng),
        value(rng, &wall_s),
        value(rng, &(wall_s * core_n)),
        value(rng, &11),
        value(rng, &start_s),
        value(rng, &end_s),
        value(rng, &26_636),
        value(rng, &26_832),
        value(rng, &core_n),
        value(rng, &1),
    ];
    cells.join("|") + "\n"
}

fn sacct(rng: &mut Rng, id: i64) -> String {
    let (submit_s, start_s, end_s) = times(rng);
    let iso = |s| civil(s, "%Y-%m-%dT%H:%M:%S");
    let core_n = rng.between(1, 65);
    let memory = value(rng, &format!("{}G", 2 * core_n));
    let gpu_n = value(rng, &(rng_code(id) / 50));
    let cells = [
        value(rng, &id),
        value(rng, &"oak"),
        user(rng),
        value(rng, &"phys"),
        value(rng, &"cpu"),
        value(rng, &"COMPLETED"),
        value(rng, &iso(submit_s)),
        value(rng, &iso(start_s)),
        value(rng, &iso(end_s)),
        value(rng, &(end_s - start_s)),
        value(rng, &"00:00:00"),
        value(rng, &core_n),
        value(rng, &1),
        format!("cpu={core_n},mem={memory},gres/gpu={gpu_n},billing={core_n},node=1"),
        value(rng, &clock((end_s - start_s) * core_n)),
        node(rng),
    ];
    cells.join("|").replace('\n', " ") + "\n"
}

fn apel(rng: &mut Rng, id: i64) -> String {
    let (_, start_s, end_s) = times(rng);
    let (core_n, wall_s) = (rng.between(1, 9), end_s - start_s);
    let cells = [
        ("Site", value(rng, &rng_site(id))),
        ("SubmitHost", value(rng, &"ce.example.org:9619/ce.example.org-condor")),
        ("MachineName", value(rng, &"batch.example.org")),
        ("Queue", value(rng, &"long")),
        ("LocalJobId", value(rng, &id)),
        ("LocalUserId", user(rng)),
        ("GlobalUserName", value(rng, &"/DC=org/CN=Ada")),
        ("FQAN", value(rng, &"/atlas/Role=production")),
        ("VO", value(rng, &"atlas")),
        ("WallDuration", value(rng, &wall_s)),
        ("CpuDuration", value(rng, &(wall_s * core_n))),
        ("Processors", value(rng, &core_n)),
        ("NodeCount", value(rng, &1)),
        ("StartTime", value(rng, &start_s)),
        ("EndTime", value(rng, &end_s)),
        ("InfrastructureType", value(rng, &"grid")),
        ("ServiceLevelType", value(rng, &"HEPSPEC")),
        ("ServiceLevel", value(rng, &"10.5")),
    ];
    let lines = cells.map(|(key, value)| format!("{key}: {value}\n"));
    lines.concat() + "%%\n"
}

fn rng_site(id: i64) -> &'static str {
    if id % 3 == 0 { "B" } else { "A" }
}

fn gracc(rng: &mut Rng, id: i64) -> String {
    let (_, start_s, end_s) = times(rng);
    let (core_n, wall_s) = (rng.between(1, 9), end_s - start_s);
    let iso = |s| civil(s, "%Y-%m-%dT%H:%M:%SZ");
    let cells = [
        ("GlobalJobId", value(rng, &format!("condor.ce.example.org#{id}.0#1"))),
        ("LocalJobId", value(rng, &id)),
        ("SiteName", value(rng, &rng_site(id))),
        ("ProbeName", value(rng, &"htcondor-ce:ce.example.org")),
        ("ResourceType", value(rng, &"Batch")),
        ("VOName", value(rng, &"reef")),
        ("LocalUserId", user(rng)),
        ("Queue", value(rng, &"long")),
        ("StartTime", value(rng, &iso(start_s))),
        ("EndTime", value(rng, &iso(end_s))),
    ];
    let numbers = [
        ("Processors", core_n),
        ("WallDuration", wall_s),
        ("CpuDuration", wall_s * core_n),
        ("CpuDuration_user", wall_s * core_n),
        ("CpuDuration_system", 0),
        ("Njobs", 1),
    ];
    let mut pairs: Vec<String> = cells
        .iter()
        .map(|(key, value)| format!("\"{key}\":\"{value}\""))
        .collect();
    for (key, number) in numbers {
        pairs.push(if rng.one_in(200) {
            format!("\"{key}\":\"{}\"", rng.pick(ODD))
        } else {
            format!("\"{key}\":{number}")
        });
    }
    format!("{{{}}}\n", pairs.join(","))
}

fn swf(rng: &mut Rng, id: i64) -> String {
    let core_n = rng.between(1, 65);
    let (wait_s, run_s) = (rng.between(0, 7200), rng.between(1, 86_400));
    let cells = [
        value(rng, &id),
        value(rng, &rng.clone().between(0, 50 * 86_400)),
        value(rng, &wait_s),
        value(rng, &run_s),
        value(rng, &core_n),
        value(rng, &(run_s - run_s / 9)),
        value(rng, &"-1"),
        value(rng, &core_n),
        value(rng, &86_400),
        value(rng, &"-1"),
        value(rng, &1),
        value(rng, &rng.clone().between(1, 7)),
        value(rng, &1),
        value(rng, &"-1"),
        value(rng, &1),
        value(rng, &1),
        value(rng, &"-1"),
        value(rng, &"-1"),
    ];
    cells.join(" ") + "\n"
}
