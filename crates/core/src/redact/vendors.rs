//! Tokens of vendors by how they begin: expressions and their hints, for the rows of the table. Where the beginning is short
//! or could be a word, what follows has to be long, or of an exact length.

pub(super) const UNDERSCORED: &str = "BOUND((?:hf|api_org|nfp|rnd|sbp|napi|ntn|gsk|pnu|tfp|rubygems|pcsk|do[opr]_v1|pscale_(?:tkn|pw|oauth)|\
     shp(?:at|ss|ca|pa)|lin_(?:api|oauth)|figd|gls?[ac]|glsa|sntry[su]|lsv2_(?:pt|sk)|sq[pua]|CCIPAT|bk[ua]a|ops)_[A-Za-z0-9_+/=-]{24,})";
pub(super) const UNDERSCORED_HINTS: &[&str] = &[
    "hf_",
    "api_org_",
    "nfp_",
    "rnd_",
    "sbp_",
    "napi_",
    "ntn_",
    "gsk_",
    "pnu_",
    "tfp_",
    "rubygems_",
    "pcsk_",
    "_v1_",
    "pscale_",
    "shpat_",
    "shpss_",
    "shpca_",
    "shppa_",
    "lin_",
    "figd_",
    "gla_",
    "glc_",
    "glsa_",
    "glsc_",
    "sntrys_",
    "sntryu_",
    "lsv2_",
    "sqp_",
    "squ_",
    "sqa_",
    "ccipat_",
    "bkua_",
    "bkaa_",
    "ops_",
];

pub(super) const DASHED: &str = "BOUND((?:xkeysib|HRKU|NRAK|NRJS|NRII|PMAK|CFPAT|FLWSECK|pplx|xai|tvly|tskey-(?:auth|api|client)|\
     sq0[a-z]{3})-[A-Za-z0-9_-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{50,})";
pub(super) const DASHED_HINTS: &[&str] = &[
    "xkeysib-",
    "hrku-",
    "nrak-",
    "nrjs-",
    "nrii-",
    "pmak-",
    "cfpat-",
    "flwseck-",
    "pplx-",
    "xai-",
    "tvly-",
    "tskey-",
    "sq0",
    "age-secret-key-1",
];

pub(super) const DOTTED: &str = r"BOUND(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|hv[sbr]\.[A-Za-z0-9_-]{24,}|sl\.[A-Za-z0-9_-]{100,}|dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}|dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})";
pub(super) const DOTTED_HINTS: &[&str] =
    &["sg.", "hvs.", "hvb.", "hvr.", "sl.", "dp.", "dt0", ".atlasv1.", "pat", "v1.0-", "sk.eyj"];

/// They begin with a word, or with what may be in the middle of base64.
pub(super) const SHORT: &str = "ALONE((?:fw_|r8_|aio_|pul-|ico-|key-|secret_|cio|oy2|EZAK|ATBB|AKCp|SK|dapi)[A-Za-z0-9]{24,}|ATATT3[A-Za-z0-9_=-]{60,}|EAAC[A-Za-z0-9]{40,})(?-u:\\b)";
pub(super) const SHORT_HINTS: &[&str] = &[
    "fw_", "r8_", "aio_", "pul-", "ico-", "key-", "secret_", "cio", "oy2", "ezak", "atbb", "akcp", "sk",
    "dapi", "atatt3", "eaac",
];

/// They begin with numbers.
pub(super) const NUMBERED: &str =
    "ALONE([0-9]{8,10}:AA[A-Za-z0-9_-]{33}|1/[0-9]{16}:[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2})(?-u:\\b)";
pub(super) const NUMBERED_HINTS: &[&str] = &[":aa", "1/", "-us"];

/// The number of an account in base64, a time and a signature.
pub(super) const DISCORD: &str =
    r"ALONE([MNO][DTjz][A-Za-z0-9_-]{21,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})";
pub(super) const DISCORD_HINTS: &[&str] =
    &["md", "mt", "mj", "mz", "nd", "nt", "nj", "nz", "od", "ot", "oj", "oz"];

/// How base64 of tokens and of private keys begins.
pub(super) const ENCODED: &str = "ALONE((?:Z2hw|Z2hv|Z2hz|Z2hy|Z2h1|Z2l0aHVi|Z2xw|c2st|c2tf|cmtf|QUtJ|QVNJ|eG94|aGZf|bnBt|U0cu|QUl6|\
     ZG9w|aHZz|LS0tLS1C)[A-Za-z0-9+/_-]{20,}={0,2})";
pub(super) const ENCODED_HINTS: &[&str] = &[
    "z2hw", "z2hv", "z2hz", "z2hy", "z2h1", "z2l0", "z2xw", "c2st", "c2tf", "cmtf", "qutj", "qvnj", "eg94",
    "agzf", "bnbt", "u0cu", "qul6", "zg9w", "ahzz", "ls0tls1c",
];
