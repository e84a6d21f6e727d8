//! The columns of an export: the name, the kind and the cell of each stand together.

use super::line::{DIGITS, FocusLine, GRAM_DIGITS};
use crate::energy::EnergyClass;
use crate::report::energy_sums::EnergySums;
use crate::report::table::{Cell, ColumnKind};

/// A column.
pub(super) struct FocusColumn {
    /// Its name.
    pub(super) name: &'static str,
    /// What it holds.
    pub(super) kind: ColumnKind,
    /// Its cell in a line.
    pub(super) cell: fn(&FocusLine<'_>) -> Cell,
}

const fn column(name: &'static str, kind: ColumnKind, cell: fn(&FocusLine<'_>) -> Cell) -> FocusColumn {
    FocusColumn { name, kind, cell }
}

const MONEY: ColumnKind = ColumnKind::DecimalSum(DIGITS);
const PRICE: ColumnKind = ColumnKind::Decimal(DIGITS);
const GRAMS: ColumnKind = ColumnKind::DecimalSum(GRAM_DIGITS);
const COUNT: ColumnKind = ColumnKind::Sum;
const WORD: ColumnKind = ColumnKind::Text;
const TIME: ColumnKind = ColumnKind::Instant;

/// Those of FOCUS by their names, then ours.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of a method is for one lifetime of the line, and a cell is for any"
)]
pub(super) const COLUMNS: [FocusColumn; 74] = [
    column("BilledCost", MONEY, |line| line.cost()),
    column("BillingAccountId", WORD, |line| line.billing_account_id()),
    column("BillingAccountName", WORD, |line| line.billing_account_name()),
    column("BillingAccountType", WORD, |line| line.billing_account_type()),
    column("BillingCurrency", WORD, |line| Cell::text(line.currency.as_str())),
    column("BillingPeriodEnd", TIME, |line| line.billing_period_end()),
    column("BillingPeriodStart", TIME, |line| line.billing_period_start()),
    column("ChargeCategory", WORD, |line| line.category()),
    column("ChargeClass", WORD, |line| line.of_correction("Correction")),
    column("ChargeDescription", WORD, |line| line.description()),
    column("ChargeFrequency", WORD, |_| Cell::text("Usage-Based")),
    column("ChargePeriodEnd", TIME, |line| line.charge_period_end()),
    column("ChargePeriodStart", TIME, |line| line.charge_period_start()),
    column("ConsumedQuantity", MONEY, |line| line.consumed_quantity()),
    column("ConsumedUnit", WORD, |line| line.word_of_charge("Core-Seconds")),
    column("ContractedCost", MONEY, |line| line.cost()),
    column("ContractedUnitPrice", PRICE, |line| line.price()),
    column("EffectiveCost", MONEY, |line| line.cost()),
    column("HostProviderName", WORD, |line| line.site()),
    // Charges are reported before an invoice exists.
    column("InvoiceId", WORD, |_| Cell::Empty),
    column("InvoiceIssuerName", WORD, |line| line.issuer()),
    column("ListCost", MONEY, |line| line.cost()),
    column("ListUnitPrice", PRICE, |line| line.price()),
    column("PricingCategory", WORD, |line| line.word_of_charge("Standard")),
    column("PricingCurrency", WORD, |line| line.pricing_currency()),
    column("PricingCurrencyContractedUnitPrice", PRICE, |line| line.virtual_price()),
    column("PricingCurrencyEffectiveCost", MONEY, |line| line.amount()),
    column("PricingCurrencyListUnitPrice", PRICE, |line| line.virtual_price()),
    column("PricingQuantity", MONEY, |line| line.pricing_quantity()),
    column("PricingUnit", WORD, |line| line.pricing_unit()),
    column("ProviderName", WORD, |line| line.site()),
    column("PublisherName", WORD, |line| line.site()),
    column("ResourceId", WORD, |line| Cell::word(line.key.cluster)),
    column("ResourceName", WORD, |line| Cell::word(line.key.cluster)),
    column("ResourceType", WORD, |line| line.of_cluster("Cluster")),
    column("ServiceCategory", WORD, |_| Cell::text("Compute")),
    column("ServiceName", WORD, |_| Cell::text("Batch computing")),
    column("ServiceProviderName", WORD, |line| line.site()),
    column("ServiceSubcategory", WORD, |_| Cell::text("Other (Compute)")),
    column("SkuId", WORD, |line| line.tariff(|tariff| &tariff.policy)),
    column("SkuMeter", WORD, |line| line.pricing_unit()),
    column("SkuPriceDetails", WORD, |line| line.price_details()),
    column("SkuPriceId", WORD, |line| line.price_id()),
    column("SubAccountId", WORD, |line| Cell::word(line.key.account)),
    column("SubAccountName", WORD, |line| Cell::word(line.key.account)),
    column("SubAccountType", WORD, |line| line.of_account("Account")),
    column("x_CorrectionId", WORD, |line| Cell::word(line.key.correction)),
    column("x_EmbodiedCo2eGrams", GRAMS, |line| {
        line.grams(|energy| energy.embodied)
    }),
    column("x_EmbodiedCoreSeconds", COUNT, |line| {
        line.known_core_s(|energy| energy.embodied)
    }),
    column("x_EnergyApportionedCoreSeconds", COUNT, |line| {
        line.class_core_s(EnergyClass::Apportioned)
    }),
    column("x_EnergyApportionedJoules", COUNT, |line| {
        line.class_j(EnergyClass::Apportioned)
    }),
    column("x_EnergyExclusiveCoreSeconds", COUNT, |line| {
        line.class_core_s(EnergyClass::Exclusive)
    }),
    column("x_EnergyExclusiveJoules", COUNT, |line| {
        line.class_j(EnergyClass::Exclusive)
    }),
    column("x_EnergyModelledCoreSeconds", COUNT, |line| {
        line.class_core_s(EnergyClass::Modelled)
    }),
    column("x_EnergyModelledJoules", COUNT, |line| {
        line.class_j(EnergyClass::Modelled)
    }),
    column("x_EnergyNodeCoreSeconds", COUNT, |line| {
        line.known_core_s(EnergySums::nodes)
    }),
    column("x_EnergyNodeJoules", COUNT, |line| line.energy(EnergySums::nodes)),
    column("x_EnergyNodeKwh", MONEY, |line| line.kwh(EnergySums::nodes)),
    column("x_EnergyNodeMeterCoreSeconds", COUNT, |line| {
        line.class_core_s(EnergyClass::NodeMeter)
    }),
    column("x_EnergyNodeMeterJoules", COUNT, |line| {
        line.class_j(EnergyClass::NodeMeter)
    }),
    column("x_EnergySiteCoreSeconds", COUNT, |line| {
        line.known_core_s(|energy| energy.pue)
    }),
    column("x_EnergySiteJoules", COUNT, |line| line.energy(|energy| energy.pue)),
    column("x_EnergySiteKwh", MONEY, |line| line.kwh(|energy| energy.pue)),
    column("x_EnergyUsageCoreSeconds", COUNT, |line| line.usage_core_s()),
    column("x_GpuSeconds", COUNT, |line| line.count(|sums| sums.gpu_s)),
    column("x_JobCount", COUNT, |line| line.count(|sums| sums.job_n)),
    column("x_OperationalCo2eGrams", GRAMS, |line| {
        line.grams(|energy| energy.operational)
    }),
    column("x_OperationalCoreSeconds", COUNT, |line| {
        line.known_core_s(|energy| energy.operational)
    }),
    column("x_Policy", WORD, |line| line.tariff(|tariff| &tariff.policy)),
    column("x_PolicyOptions", WORD, |line| line.tariff(|tariff| &tariff.options)),
    column("x_PolicyVersion", WORD, |line| line.version()),
    column("x_Pool", WORD, |line| line.tariff(|tariff| &tariff.pool)),
    column("x_UnpricedJobCount", COUNT, |line| {
        line.count(|sums| sums.unpriced_job_n)
    }),
    column("x_VirtualOrganisation", WORD, |line| Cell::word(line.key.vo)),
];
