//! How jobs call the program.

/// The program, and what all its calls have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCalls {
    /// The program, as jobs find it.
    pub program: String,
    /// The pipeline file, as jobs find it.
    pub pipeline: String,
    /// Folder or URL of the shards, as jobs find it.
    pub shard_folder: String,
    /// Mapped roots, as they were given.
    pub maps: Vec<String>,
    /// The lake, where it is not that of the pipeline.
    pub out: Option<String>,
    /// Most memory of each call, as it was given.
    pub max_memory: Option<String>,
    /// Name of the pipeline.
    pub name: String,
    /// How many shards the list has.
    pub shard_n: u32,
}

impl ProgramCalls {
    /// The words that read a shard; `number` stands for its number.
    #[must_use]
    pub fn read(&self, number: &str) -> Vec<String> {
        let shard = format!("{number}/{}", self.shard_n);
        let mut words = vec!["run".to_owned(), self.pipeline.clone(), "--shard".to_owned(), shard];
        self.shared(&mut words);
        words
    }

    /// The words that merge all shards.
    #[must_use]
    pub fn merge(&self) -> Vec<String> {
        let mut words = vec!["merge".to_owned(), self.pipeline.clone()];
        self.shared(&mut words);
        if let Some(out) = &self.out {
            words.extend(["--out".to_owned(), out.clone()]);
        }
        words
    }

    fn shared(&self, words: &mut Vec<String>) {
        words.extend(["--shard-folder".to_owned(), self.shard_folder.clone()]);
        for map in &self.maps {
            words.extend(["--map".to_owned(), map.clone()]);
        }
        if let Some(size) = &self.max_memory {
            words.extend(["--max-memory".to_owned(), size.clone()]);
        }
    }

    /// The name of the pipeline as names of jobs may have it.
    #[must_use]
    pub fn job_name(&self) -> String {
        let letters = self.name.chars();
        letters
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect()
    }
}
