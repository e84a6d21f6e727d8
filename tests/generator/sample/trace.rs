//! A log for what-ifs: 64 nodes, burst buffer, and the starts that first come, first served gave.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::rng::Rng;

const NODE_N: i64 = 64;
const HEADER: &str = "\
; Version: 2.2
; Computer: an invented cluster
; Installation: ALP-T2
; UnixStartTime: 1767225600
; TimeZoneString: Europe/Zurich
; MaxNodes: 64
; MaxProcs: 64
; BurstBuffer: 200000
; Note: column 19 is the requested burst buffer, GB
;
";

/// Adds the log.
pub(super) fn trace(files: &mut BTreeMap<&'static str, Vec<u8>>) {
    let mut rng = Rng::new(64);
    let mut text = HEADER.to_owned();
    let mut submit_s = 0;
    let mut running: Vec<Running> = Vec::new();
    let mut last_s = 0;
    for id in 1..=240 {
        submit_s += rng.between(0, 1_500);
        let nodes = rng.pick(&[1, 1, 2, 4, 4, 8, 8, 16, 24, 32, 48]);
        let limit_s = rng.pick(&[900, 1_800, 3_600, 7_200, 14_400]);
        let run_s = if rng.one_in(3) {
            limit_s
        } else {
            rng.between(limit_s / 10, limit_s)
        };
        let buffer_gb = if rng.one_in(2) { rng.between(5_001, 90_000) } else { 0 };
        let status = i64::from(!rng.one_in(12));
        let user = rng.between(1, 9);
        match id {
            // Cancelled while it waited; more nodes than there are; no time limit.
            41 => {
                let _ = writeln!(
                    text,
                    "41 {submit_s} 600 -1 -1 -1 -1 8 3600 -1 5 {user} 1 -1 1 -1 -1 -1 0"
                );
            }
            97 => {
                let _ = writeln!(
                    text,
                    "97 {submit_s} -1 1200 80 -1 -1 80 3600 -1 1 {user} 1 -1 1 -1 -1 -1 0"
                );
            }
            _ => {
                let start_s = start(&mut running, submit_s.max(last_s), nodes, run_s);
                last_s = start_s;
                let wait_s = start_s - submit_s;
                let limit_s = if id == 150 { -1 } else { limit_s };
                let _ = writeln!(
                    text,
                    "{id} {submit_s} {wait_s} {run_s} {nodes} -1 -1 {nodes} {limit_s} -1 {status} {user} 1 -1 1 -1 -1 -1 {buffer_gb}"
                );
            }
        }
    }
    files.insert("trace.swf", text.into_bytes());
}

struct Running {
    end_s: i64,
    nodes: i64,
}

/// The earliest second from `from_s` on at which so many nodes are free; they are taken.
fn start(running: &mut Vec<Running>, from_s: i64, nodes: i64, run_s: i64) -> i64 {
    running.sort_by_key(|job| job.end_s);
    let mut start_s = from_s;
    running.retain(|job| job.end_s > from_s);
    let mut free = NODE_N - running.iter().map(|job| job.nodes).sum::<i64>();
    while free < nodes {
        let first = running.remove(0);
        start_s = first.end_s;
        free += first.nodes;
    }
    running.push(Running {
        end_s: start_s + run_s,
        nodes,
    });
    start_s
}
