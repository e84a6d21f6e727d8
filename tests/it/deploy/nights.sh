#!/bin/bash
# Nights of a pipeline under systemd, from the Debian package on: each fact goes to /mnt/exchange/facts as a line NAME=VALUE.
# The test boot.rs starts it in a container and judges the facts.
set -u
export LC_ALL=C
exchange=/mnt/exchange
service=gridtally@zoo.service
lake=/var/lib/gridtally/zoo
dumps=/var/lib/gridtally/dumps
head='JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU'

fact() {
    printf '%s=%s\n' "$1" "$2" >>"$exchange/facts"
}

of_service() {
    systemctl show "$service" --property="$1" --value
}

# Waits until a command succeeds: SECONDS COMMAND...
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        if [ "$SECONDS" -ge "$end" ]; then
            fact timeout "$*"
            return 1
        fi
        sleep 0.1
    done
}

is_at_rest() {
    case $(of_service ActiveState) in
    active | activating | deactivating | reloading) return 1 ;;
    esac
}

is_running() {
    [ "$(of_service SubState)" = start ]
}

is_restarting() {
    [ "$(of_service NRestarts)" -ge 1 ]
}

has_runs() {
    [ "$(journalctl --unit=$service --output=cat --no-pager | grep -c '"status":')" -ge "$1" ]
}

is_staging() {
    [ -n "$(find "$lake/.gridtally/staging" -type f 2>/dev/null | head -n 1)" ]
}

dump() {
    printf '%s\n' "$head" "$2" >"$dumps/sacct-$1.txt"
}

job() {
    echo "$1|oak|u|a|COMPLETED|2026-10-29T00:00:00|2026-10-29T00:00:00|2026-10-29T01:00:00|3600|1|cpu=1,node=1|00:10:00"
}

hash_of_lake() {
    (cd "$lake" && sha256sum manifest.json | cut -d' ' -f1)
}

# What the last run was: PREFIX
ended() {
    fact "$1.result" "$(of_service Result)"
    fact "$1.status" "$(of_service ExecMainStatus)"
    fact "$1.restarts" "$(of_service NRestarts)"
    gridtally status "$lake" --nagios >"$exchange/status" 2>&1
    fact "$1.nagios" "$?"
}

begin() {
    systemctl reset-failed "$service" 2>/dev/null
}

fact process_1 "$(cat /proc/1/comm)"

# The package brings user, folders and units.
dpkg --install "$exchange"/gridtally_*.deb >"$exchange/dpkg" 2>&1
fact dpkg "$?"
fact owner "$(stat -c %U $dumps)"
cat >/etc/gridtally/zoo.toml <<PIPELINE
[pipeline]
name = "zoo"
output = "elsewhere"
[[source]]
name = "slurm"
format = "sacct"
paths = ["$dumps/sacct-*.txt*"]
site = "SITE"
timezone = "UTC"
vo = { column = "account" }
PIPELINE
mkdir -p /var/lib/prometheus/node-exporter
chown gridtally /var/lib/prometheus/node-exporter
cat >/etc/gridtally/zoo.env <<'VARIABLES'
GRIDTALLY_RUN_OPTIONS="--textfile /var/lib/prometheus/node-exporter/gridtally-zoo.prom --textfile-label pipeline=zoo --max-memory 512M"
OPENLINEAGE_URL=http://localhost:5000
VARIABLES
chmod 600 /etc/gridtally/zoo.env
# A server of lineage, which keeps what it is sent.
cat >/run/lineage.py <<'SERVER'
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("/run/lineage", "ab") as file:
            file.write(body + b"\n")
        self.send_response(201)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", 5000), Handler).serve_forever()
SERVER
systemd-run --quiet --unit=lineage python3 /run/lineage.py
# The hook of a failure as it is shipped, with a mail program that shows what it gets.
install -m 755 /usr/share/doc/gridtally/examples/systemd/on-failure /etc/gridtally/on-failure
mkdir -p /usr/local/bin
printf '#!/bin/sh\necho "mail $*"\nsed "s/^/mailed: /"\n' >/usr/local/bin/mail
chmod 755 /usr/local/bin/mail

# The timer, in four seconds.
dump 1 "$(job 1)"
mkdir -p /etc/systemd/system/gridtally@zoo.timer.d "/etc/systemd/system/$service.d"
cat >/etc/systemd/system/gridtally@zoo.timer.d/soon.conf <<SOON
[Timer]
OnCalendar=
OnCalendar=$(date -u -d '+4 seconds' '+%Y-%m-%d %H:%M:%S UTC')
RandomizedDelaySec=0
AccuracySec=100ms
SOON
printf '[Service]\nRestartSec=1s\n' >"/etc/systemd/system/$service.d/soon.conf"
systemctl daemon-reload
systemctl enable --quiet --now gridtally@zoo.timer
fact timer.enabled "$(systemctl is-enabled gridtally@zoo.timer)"
fact timer.before "$([ -e $lake ] && echo lake)"
wait_until 60 test -e $lake/manifest.json
wait_until 60 is_at_rest
fact timer.triggered_by "$(of_service TriggeredBy)"
ended night
fact night.owner "$(stat -c %U:%a $lake/manifest.json)"
fact night.metrics "$(grep -c '^gridtally_run_last_exit_code{pipeline="zoo"} 0$' /var/lib/prometheus/node-exporter/gridtally-zoo.prom)"
fact night.lineage "$(grep -o '"eventType": *"[A-Z]*"' /run/lineage | sed 's/.*"\([A-Z]*\)"$/\1/' | paste -sd,)"
fact night.journal "$(journalctl --unit=$service --output=cat --no-pager | grep -c '^{.*"status":"published"')"
fact night.warnings "$(journalctl --unit=$service --output=cat --no-pager | grep -c '^warning: ')"
fact night.files_elsewhere "$(find /etc /home /opt /root /run /srv /tmp /usr/local /var -user gridtally -type f -not -path "$lake/*" | paste -sd,)"

# A night that was missed is made up for as soon as the timer is there again.
begin
systemctl stop gridtally@zoo.timer
printf '[Timer]\nRandomizedDelaySec=0\n' >/etc/systemd/system/gridtally@zoo.timer.d/soon.conf
systemctl daemon-reload
touch -d '-2 days' /var/lib/systemd/timers/stamp-gridtally@zoo.timer
runs=$(journalctl --unit=$service --output=cat --no-pager | grep -c '"status":')
systemctl start gridtally@zoo.timer
wait_until 60 has_runs $((runs + 1))
wait_until 60 is_at_rest
fact missed.runs "$(($(journalctl --unit=$service --output=cat --no-pager | grep -c '"status":') - runs))"
fact missed.next "$(date -ud "$(systemctl show gridtally@zoo.timer --property=NextElapseUSecRealtime --value)" +%M)"

# A place that the unit does not name cannot be written to.
begin
mkdir -p /srv/open
chmod 777 /srv/open
sed -i 's|/var/lib/prometheus/node-exporter|/srv/open|' /etc/gridtally/zoo.env
systemctl start "$service"
ended confined
fact confined.files "$(ls /srv/open)"
fact confined.warnings "$(journalctl --unit=$service --output=cat --no-pager | grep -c '^warning: .*/srv/open')"
sed -i 's|/srv/open|/var/lib/prometheus/node-exporter|' /etc/gridtally/zoo.env

# A dump of which nothing can be read: 65, no other try, and the hook.
begin
before=$(hash_of_lake)
echo broken >$dumps/sacct-2.txt
systemctl start "$service" 2>/dev/null
fact failed.start "$?"
wait_until 60 journalctl --unit=gridtally-failure@zoo.service --output=cat --no-pager --grep='^mailed: '
ended failed
fact failed.lake "$([ "$before" = "$(hash_of_lake)" ] && echo same)"
journalctl --unit=gridtally-failure@zoo.service --output=cat --no-pager >"$exchange/hook"

# Writing fails (74), and another try finds it mended.
dump 2 "$(job 2)"
begin
chown root $lake/.gridtally
systemctl start --no-block "$service"
wait_until 60 is_restarting
chown gridtally $lake/.gridtally
wait_until 60 is_at_rest
ended retried
fact retried.lake "$([ "$before" = "$(hash_of_lake)" ] || echo new)"

# It fails each time: three more tries, then the hook.
begin
chown root $lake/.gridtally
dump 4 "$(job 4)"
sleep 1.1
since=$(date '+%Y-%m-%d %H:%M:%S')
systemctl start --no-block "$service"
wait_until 60 journalctl --unit=gridtally-failure@zoo.service --since="$since" --output=cat --no-pager --quiet --grep='^mailed: .*status=74'
fact exhausted.tries "$(journalctl --unit=$service --since="$since" --output=cat --no-pager | grep -c 'status=74/IOERR')"
fact exhausted.hooks "$(journalctl --unit=gridtally-failure@zoo.service --since="$since" --output=cat --no-pager | grep -c '^mail -s')"
ended exhausted
chown gridtally $lake/.gridtally

# `systemctl stop` in the middle of a run.
begin
before=$(hash_of_lake)
{
    echo "$head"
    seq 10 300010 | awk 'BEGIN { OFS = "|" } { d = sprintf("2026-10-%02d", $1 % 28 + 1)
        print $1, "oak", "u" $1 % 50, "a" $1 % 7, "COMPLETED", d "T00:00:00", d "T00:00:00", d "T01:00:00", 3600, 1, "cpu=1,node=1", "00:10:00" }'
} >$dumps/sacct-3.txt
systemctl start --no-block "$service"
wait_until 60 is_running
sleep 0.7
fact stopped.while "$(of_service SubState)"
from=$(date +%s%N)
systemctl stop "$service"
fact stopped.ms "$((($(date +%s%N) - from) / 1000000))"
ended stopped
fact stopped.lake "$([ "$before" = "$(hash_of_lake)" ] && echo same)"
fact stopped.staged "$(is_staging && echo files)"
gridtally verify $lake >"$exchange/verify" 2>&1
fact stopped.verify "$?"

begin
# The next night reads what the stopped one did not.
systemctl start "$service"
ended next
fact next.lake "$([ "$before" = "$(hash_of_lake)" ] || echo new)"
gridtally verify $lake >"$exchange/verify" 2>&1
fact next.verify "$?"
journalctl --no-pager >"$exchange/journal" 2>&1
fact end reached
