//! Rows and jobs of a lake as bytes of a column.

use super::lake_rows::{JobOwner, LakeRow};
use super::lake_trace::LakeJob;
use crate::runtime::column_value::{ByteFields, ColumnValue, encode_known, encode_numbers, encode_text, encode_word};

impl ColumnValue for JobOwner {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Self { user, partition, qos } = self;
        for word in [user, partition, qos] {
            encode_word(word.as_deref(), bytes);
        }
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        let [user, partition, qos] = [(); 3].map(|()| bytes.word());
        Self { user, partition, qos }
    }

    fn memory_byte_n(&self) -> usize {
        let Self { user, partition, qos } = self;
        let texts = [user, partition, qos].into_iter().flatten();
        size_of::<Self>() + texts.map(String::len).sum::<usize>()
    }
}

impl ColumnValue for LakeRow {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Self {
            record_id,
            job_id,
            raw_job_id,
            name_key,
            dependency,
            reservation,
            account,
            vo,
            owner,
            state,
            submit_s,
            eligible_s,
            start_s,
            end_s,
            limit_s,
            core_n,
            requested_core_n,
            node_n,
            gpu_n,
            memory_mib,
            model_n,
            unstated_model_n,
            shared,
            held,
            energy_j,
        } = self;
        bytes.extend_from_slice(&record_id.to_le_bytes());
        encode_text(job_id, bytes);
        encode_known(raw_job_id.map(i64::from), bytes);
        bytes.push(u8::from(name_key.is_some()));
        // Fallback: what is missing has bytes as well.
        bytes.extend_from_slice(&name_key.unwrap_or_default().to_le_bytes());
        for word in [dependency, reservation, account, vo, state] {
            encode_word(word.as_deref(), bytes);
        }
        owner.encode(bytes);
        for number in [
            submit_s,
            eligible_s,
            start_s,
            end_s,
            limit_s,
            core_n,
            requested_core_n,
            node_n,
            gpu_n,
            memory_mib,
            energy_j,
        ] {
            encode_known(*number, bytes);
        }
        for numbers in [model_n, shared, held] {
            encode_numbers(numbers, bytes);
        }
        bytes.extend_from_slice(&unstated_model_n.to_le_bytes());
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        let record_id = bytes.number128();
        let job_id = bytes.text();
        let raw_job_id = bytes.known().and_then(|raw| u32::try_from(raw).ok());
        let has_name = bytes.byte() == 1;
        let name_key = Some(bytes.number128()).filter(|_| has_name);
        let [dependency, reservation, account, vo, state] = [(); 5].map(|()| bytes.word());
        let owner = JobOwner::decode(bytes);
        let [
            submit_s,
            eligible_s,
            start_s,
            end_s,
            limit_s,
            core_n,
            requested_core_n,
            node_n,
            gpu_n,
            memory_mib,
            energy_j,
        ] = [(); 11].map(|()| bytes.known());
        let [model_n, shared, held] = [(); 3].map(|()| bytes.numbers());
        Self {
            record_id,
            job_id,
            raw_job_id,
            name_key,
            dependency,
            reservation,
            account,
            vo,
            owner,
            state,
            submit_s,
            eligible_s,
            start_s,
            end_s,
            limit_s,
            core_n,
            requested_core_n,
            node_n,
            gpu_n,
            memory_mib,
            model_n,
            unstated_model_n: bytes.signed(),
            shared,
            held,
            energy_j,
        }
    }

    fn memory_byte_n(&self) -> usize {
        let words = [
            &self.dependency,
            &self.reservation,
            &self.account,
            &self.vo,
            &self.state,
        ];
        let texts: usize = words.into_iter().flatten().map(String::len).sum();
        let numbers: usize = [&self.model_n, &self.shared, &self.held]
            .map(Vec::len)
            .into_iter()
            .sum();
        size_of::<Self>() + self.owner.memory_byte_n() + self.job_id.len() + texts + numbers * 8
    }
}

impl ColumnValue for LakeJob {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Self {
            id,
            submit_s,
            job_id,
            record_id,
            account,
            vo,
            owner,
            node_n,
            held,
            energy_j,
        } = self;
        bytes.extend_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(&submit_s.to_le_bytes());
        encode_text(job_id, bytes);
        bytes.extend_from_slice(&record_id.to_le_bytes());
        for word in [account, vo] {
            encode_word(word.as_deref(), bytes);
        }
        owner.encode(bytes);
        encode_known(*node_n, bytes);
        encode_numbers(held, bytes);
        encode_known(*energy_j, bytes);
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        Self {
            id: bytes.signed(),
            submit_s: bytes.signed(),
            job_id: bytes.text(),
            record_id: bytes.number128(),
            account: bytes.word(),
            vo: bytes.word(),
            owner: JobOwner::decode(bytes),
            node_n: bytes.known(),
            held: bytes.numbers(),
            energy_j: bytes.known(),
        }
    }

    fn memory_byte_n(&self) -> usize {
        let texts = [&self.account, &self.vo].into_iter().flatten();
        let text_n = self.job_id.len() + texts.map(String::len).sum::<usize>();
        size_of::<Self>() + self.owner.memory_byte_n() + text_n + self.held.len() * 8
    }
}
