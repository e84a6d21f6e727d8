//! The power of a site while its nodes do not change.

use crate::reference::benchmark::{Each, OneToOne, Power, SI00_PER_HS06, Score};
use crate::reference::node_type::NodeType;
use crate::reference::ratio::Ratio;

/// Ten-thousandths in one.
const E4: i128 = 10_000;

/// What all nodes of a site come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SitePower {
    /// Nodes.
    pub node_n: i128,
    /// Physical CPUs (chips): `CE_PHYSCPU`.
    pub physical_cpu_n: i128,
    /// Logical CPUs: `CE_LOGCPU`.
    pub logical_cpu_n: i128,
    /// Installed score, by the benchmark it was measured with.
    pub installed: Each<Score>,
}

impl SitePower {
    /// Adds up node types. Counts are at most 10^8 (`node_type`), so that their products and sums fit.
    #[must_use]
    pub fn of(types: &[&NodeType]) -> Self {
        let mut sum = Self::default();
        for one in types {
            sum.node_n += i128::from(one.node_n);
            sum.physical_cpu_n += i128::from(one.node_n) * i128::from(one.physical_cpu_n);
            sum.logical_cpu_n += i128::from(one.node_n) * i128::from(one.logical_cpu_n);
            sum.installed.add(installed(one));
        }
        sum
    }

    /// Logical CPUs per physical one (`Cores`): times `CE_PHYSCPU` it is `CE_LOGCPU`.
    #[must_use]
    pub fn cores(&self) -> Option<Ratio> {
        Ratio::new(self.logical_cpu_n, self.physical_cpu_n)
    }

    /// Installed capacity in SI00. HEPSPEC06 and `HEPscore23` are added one to one, as [`OneToOne::WLCG`] decided, and
    /// counted as 250 SI00 each, by decree.
    #[must_use]
    pub fn installed_si00(&self) -> Ratio {
        let (hs06, hs23) = (self.installed.hs06, self.installed.hs23);
        let pool = OneToOne::WLCG.pool(hs06.unwrap_or(Power::ZERO), hs23.unwrap_or(Power::ZERO));
        let hepspec = pool.total_scaled() * i128::from(SI00_PER_HS06);
        let si00 = self.installed.si00.unwrap_or(Power::ZERO).scaled();
        Ratio::new(hepspec + si00, E4).unwrap_or(Ratio::from_e4(0))
    }

    /// The same in HEPSPEC06.
    #[must_use]
    pub fn installed_hs06(&self) -> Ratio {
        in_hs06(self.installed_si00())
    }

    /// Mean score of a logical CPU in SI00: what `CE_SI00` publishes. It has no value when there are no CPUs.
    #[must_use]
    pub fn mean_si00(&self) -> Option<Ratio> {
        let logical = Ratio::new(self.logical_cpu_n, 1)?;
        self.installed_si00().over(logical)
    }

    /// Mean score of a logical CPU in HEPSPEC06 (`Benchmark`): times `CE_LOGCPU` it is the installed capacity.
    #[must_use]
    pub fn mean_hs06(&self) -> Option<Ratio> {
        self.mean_si00().map(in_hs06)
    }

    /// What the benchmark of the mean is called.
    #[must_use]
    pub fn scale_name(&self) -> &'static str {
        match (
            self.installed.hs06.is_some() || self.installed.si00.is_some(),
            self.installed.hs23.is_some(),
        ) {
            (false, true) => "HEPscore23",
            (true, true) => "HEP-SPEC06 and HEPscore23, 1:1",
            _ => "HEP-SPEC06",
        }
    }
}

/// The installed score of one node type.
#[must_use]
pub fn installed(one: &NodeType) -> Each<Score> {
    let scaled = i128::from(one.per_node_e4) * i128::from(one.node_n);
    Each::only(one.benchmark, scaled)
}

/// Mean score in SI00 of a logical CPU of one node type.
#[must_use]
pub fn per_cpu_si00(one: &NodeType) -> Option<Ratio> {
    SitePower::of(&[one]).mean_si00()
}

/// A score or reference in SI00 as HEPSPEC06.
#[must_use]
pub fn in_hs06(si00: Ratio) -> Ratio {
    si00.over(si00_per_hs06()).unwrap_or(si00)
}

/// A score in HEPSPEC06 as SI00.
#[must_use]
pub fn in_si00(hs06: Ratio) -> Ratio {
    hs06.times(si00_per_hs06())
}

fn si00_per_hs06() -> Ratio {
    Ratio::from_e4(SI00_PER_HS06 * 10_000)
}
