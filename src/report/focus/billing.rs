//! How a site bills: what a lake does not state and an invoice needs.

use crate::error::{Error, Kind, Result};
use crate::reference::currency::is_currency;
use crate::report::charges::BalanceTariff;

/// The settings of a report of costs.
#[derive(Clone, Debug, Default)]
pub struct FocusBilling {
    /// National currency of what no policy counts in money.
    pub currency: Option<String>,
    /// Who sends the invoice; the site if none is named.
    pub issuer: Option<String>,
    /// Whether jobs whose charge is unknown are left out, and counted; else they are an error.
    pub is_leaving_out: bool,
}

impl FocusBilling {
    /// The currency that a tariff is billed in.
    pub(super) fn currency_of(&self, tariff: &BalanceTariff) -> Result<String> {
        let code = tariff.unit.to_uppercase();
        if is_currency(&code) {
            return Ok(code);
        }
        self.currency.clone().ok_or_else(|| {
            let message = format!(
                "{tariff} counts in {}, which is not money: name the billing currency by --currency",
                tariff.unit
            );
            Error::new(Kind::Usage, message)
        })
    }
}
