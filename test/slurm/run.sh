#!/bin/sh
# run.sh PINCH EXAMPLES: the batch files of examples/slurm under a real Slurm, slurmctld and slurmd of this machine alone, on addresses of this
# machine alone: ranks and an array job with a merge behind it must write what one process writes. Status 77, which ctest takes for
# "skipped", where Slurm or munge are not installed or we are not root.
set -u
PINCH=$1 examples=$2
export PINCH
PATH=$PATH:/usr/sbin:/sbin
for program in slurmctld slurmd munged srun sbatch; do
  command -v $program >/dev/null 2>&1 || { echo "skipped: $program is not installed"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs root"; exit 77; }

folder=$(mktemp -d) || exit 1
chmod 755 "$folder"
# What was started here is ended here, by its own number.
end() {
  for file in d.pid ctld.pid munge/pid; do [ -s "$folder/$file" ] && kill "$(cat "$folder/$file")" 2>/dev/null; done
  sleep 1
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 1' INT TERM HUP
fail() {
  echo "slurm: $*"
  tail -n 20 "$folder"/*.log 2>/dev/null
  exit 1
}
cd "$folder" || exit 1
mkdir -m 700 munge && mkdir state spool
head -c 1024 /dev/urandom >munge/key && chmod 400 munge/key
munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
  --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2>munge.log || { echo "skipped: munged does not start"; exit 77; }
host=$(hostname -s)
# below those that the system gives away itself
port=$((20000 + $$ % 12000))
cat >slurm.conf <<CONF
ClusterName=pinch
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/ctld.pid
SlurmdPidFile=$folder/d.pid
SlurmctldLogFile=$folder/ctld.log
SlurmdLogFile=$folder/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
export SLURM_CONF=$folder/slurm.conf
slurmctld -f slurm.conf || fail "slurmctld does not start"
slurmd -f slurm.conf || { echo "skipped: slurmd does not start here"; exit 77; }
for try in $(seq 45); do
  sinfo -h -o %T 2>/dev/null | grep -q idle && break
  sleep 1
done
sinfo -h -o %T | grep -q idle || { echo "skipped: the node does not become idle"; exit 77; }

"$PINCH" make character hero.glb --triangles 10000 --seconds 1 -q || fail "no character"
"$PINCH" scan hero.glb --self --json --csv one.csv >one.json
[ $? = 1 ] || fail "the scan alone has no findings"

# Parts: an array job, and a merge that waits for it.
job=$(sbatch --parsable --array=1-3 "$examples/parts.sbatch" hero.glb --self) || fail "sbatch refuses the array"
timeout 250 sbatch --wait --dependency=afterok:"$job" "$examples/merge.sbatch" hero --json --csv merged.csv >sbatch.log 2>&1
status=$?
[ $status = 1 ] || fail "the merge ended with $status"
cmp merge.log one.json && cmp merged.csv one.csv || fail "the merged parts differ from one scan"
echo "slurm: an array job of 3 parts and its merge: the same bytes, the same status"

# Ranks, where pinch was built with MPI and this Slurm can start it.
if ! ldd "$PINCH" | grep -q libmpi || ! srun --mpi=list 2>&1 | grep -q pmix; then
  echo "slurm: ranks skipped: no MPI in this pinch, or no pmix in this Slurm"
  exit 0
fi
timeout 250 sbatch --wait --ntasks=3 --overcommit --output=ranks.out "$examples/ranks.sbatch" hero.glb --self --csv ranks.csv >sbatch.log 2>&1
cmp ranks.csv one.csv || fail "the ranks' answer differs from one process's"
echo "slurm: 3 ranks started by srun: the same bytes"
