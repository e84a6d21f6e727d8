//! A job as bytes of a column: all of it but what it waits for, which few jobs have.

use super::demand::{Demand, KIND_N};
use super::job::{Job, JobEnd};
use super::predecessor::Predecessors;
use super::trace_change::JobChanges;
use crate::runtime::column_value::{ByteFields, ColumnValue, encode_known};

impl ColumnValue for Demand {
    fn encode(&self, bytes: &mut Vec<u8>) {
        for amount in self.amounts() {
            bytes.extend_from_slice(&amount.to_le_bytes());
        }
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        let mut amounts = [0; KIND_N];
        for amount in &mut amounts {
            *amount = bytes.signed();
        }
        Self::of(&amounts)
    }
}

impl JobEnd {
    const ALL: [Self; 4] = [Self::Completed, Self::Failed, Self::Cancelled, Self::Unknown];
}

impl ColumnValue for Job {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Self {
            id,
            submit_s,
            run_s,
            limit_s,
            need,
            ssd_gb,
            after: _,
            ended,
            recorded_start_s,
            recorded_run_s,
            user,
            group,
            reservation,
            changes,
        } = self;
        for number in [id, submit_s, run_s, limit_s, ssd_gb] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        need.encode(bytes);
        let ended = (0..).zip(JobEnd::ALL).find(|(_, word)| word == ended);
        bytes.push(ended.map_or(0, |(place, _)| place));
        for number in [
            *recorded_start_s,
            *recorded_run_s,
            *user,
            *group,
            reservation.map(i64::from),
        ] {
            encode_known(number, bytes);
        }
        bytes.extend_from_slice(&changes.bits().to_le_bytes());
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        let [id, submit_s, run_s, limit_s, ssd_gb] = [(); 5].map(|()| bytes.signed());
        let need = Demand::decode(bytes);
        let ended = usize::from(bytes.byte());
        let [recorded_start_s, recorded_run_s, user, group, reservation] = [(); 5].map(|()| bytes.known());
        let changes = JobChanges::of_bits(u16::from_le_bytes([bytes.byte(), bytes.byte()]));
        Self {
            id,
            submit_s,
            run_s,
            limit_s,
            need,
            ssd_gb,
            after: Predecessors::default(),
            ended: JobEnd::ALL.get(ended).map_or(JobEnd::Unknown, |ended| *ended),
            recorded_start_s,
            recorded_run_s,
            user,
            group,
            changes,
            reservation: reservation.and_then(|place| u32::try_from(place).ok()),
        }
    }
}
