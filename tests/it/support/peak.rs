//! What a run of the program takes of memory.

use std::path::Path;
use std::process::Command;

/// Resident kilobytes of the program at most, with these arguments in a folder, as the system counted them; `None` without
/// python3.
pub(crate) fn peak_kb(folder: &Path, arguments: &[&str]) -> Option<u64> {
    let script = "import resource, subprocess, sys\n\
                  code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n\
                  print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n";
    let output = Command::new("python3")
        .args(["-c", script, env!("CARGO_BIN_EXE_gridtally")])
        .args(arguments)
        .current_dir(folder)
        .output()
        .ok()?;
    let reported = String::from_utf8(output.stdout).unwrap();
    let mut numbers = reported.split_whitespace();
    assert_eq!(
        numbers.next(),
        Some("0"),
        "{reported}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(numbers.next().unwrap().parse().unwrap())
}
