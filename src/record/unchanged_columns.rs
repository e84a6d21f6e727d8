//! Which texts a row shares with the row before it, so that a sink need not compare them.

macro_rules! texts {
    ($($text:ident = $bit:literal,)+) => {
        /// Texts that are the same, null or not, as in the row that the same sink received before. A reader that does not
        /// know marks none ([`UnchangedColumns::default`]); a forwarding sink that changes a text removes its mark.
        ///
        /// It saves work and is not part of a job: rows that differ in nothing else are equal.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct UnchangedColumns(u16);

        #[expect(missing_docs, reason = "each is the field of a row that has its name")]
        impl UnchangedColumns {
            $(pub const $text: Self = Self(1 << $bit);)+
        }
    };
}

texts! {
    VIEW = 0,
    CLUSTER = 1,
    SUBMIT_HOST = 2,
    VO = 3,
    VO_GROUP = 4,
    VO_ROLE = 5,
    ACCOUNT = 6,
    USER = 7,
    GLOBAL_USER = 8,
    PARTITION = 9,
    QOS = 10,
    INFRASTRUCTURE = 11,
    STATE = 12,
    BENCHMARK = 13,
    WCKEY = 14,
    FQAN = 15,
}

impl UnchangedColumns {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without the `other` ones.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// These if `is_so`, otherwise none.
    #[must_use]
    pub const fn when(self, is_so: bool) -> Self {
        if is_so { self } else { Self(0) }
    }

    /// Whether all of `others` are among them.
    #[inline]
    #[must_use]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

impl PartialEq for UnchangedColumns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
