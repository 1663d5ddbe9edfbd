//! The corpus: how more than 150 kinds of secrets are written, with values made up when the test runs, so that no scanner
//! takes this file for a leak. `{A20}` are 20 random letters and digits, and none of such a piece may be left.

use super::*;

/// Characters of a random piece, by its letter.
fn alphabet(kind: char) -> &'static [u8] {
    match kind {
        'h' => b"0123456789abcdef",
        'U' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        'L' => b"abcdefghijklmnopqrstuvwxyz0123456789",
        'd' => b"0123456789",
        'b' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        'u' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    }
}

/// Numbers without a pattern, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    /// The text of a template, and its random pieces.
    fn fill(&mut self, template: &str) -> (String, Vec<String>) {
        let (mut text, mut pieces, mut rest) = (String::new(), vec![], template);
        while let Some((before, after)) = rest.split_once('{') {
            let piece = after.split_once('}').and_then(|(inner, rest)| {
                let kind = inner.chars().next()?;
                Some((kind, inner[kind.len_utf8()..].parse::<usize>().ok()?, rest))
            });
            text.push_str(before);
            let Some((kind, length, after)) = piece else {
                text.push('{');
                rest = after;
                continue;
            };
            let signs = alphabet(kind);
            let made: String = (0..length).map(|_| char::from(signs[self.roll(signs.len())])).collect();
            text.push_str(&made);
            pieces.push(made);
            rest = after;
        }
        (text + rest, pieces)
    }
}

/// Shorter pieces are parts of names and numbers.
const SECRET_BYTES: usize = 8;

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = |chunk: &[u8]| {
        let number =
            (0..3).fold(0_u32, |number, at| number << 8 | chunk.get(at).map_or(0, |byte| u32::from(*byte)));
        let sign = |at: usize| char::from(SIGNS[(number >> (18 - 6 * at)) as usize & 63]);
        (0..4).map(|at| if at <= chunk.len() { sign(at) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(sextets).collect()
}

/// Tokens that are known by how they begin, wherever they stand.
const TOKENS: &str = "sk-ant-api03-{u93} sk-ant-admin01-{u93} sk-{A48} sk-proj-{u80} sk-svcacct-{u80} sk-or-v1-{h64} \
    AKIA{U16} ASIA{U16} ghp_{A36} gho_{A36} ghu_{A36} ghs_{A36} ghr_{A36} github_pat_11{A20}_{A59} glpat-{u20} gldt-{u20} \
    glrt-{u20} glcbt-{u20} glptt-{h40} glft-{u20} glsoat-{u20} glagent-{u50} glimt-{u25} gloas-{h64} \
    xoxb-{d12}-{d13}-{A24} xoxp-{d12}-{d12}-{h32} xapp-1-A{U10}-{d13}-{h64} AIza{u35} ya29.{u100} GOCSPX-{u28} 1//0{u60} \
    sk_live_{A24} rk_live_{A24} sk_test_{A24} rk_test_{A24} whsec_{A32} npm_{A36} pypi-AgEIcHlwaS5vcmc{u90} rubygems_{h48} \
    oy2{L43} hf_{A34} api_org_{A34} SG.{u22}.{u43} key-{h32} {h32}-us12 xkeysib-{h64}-{A16} hvs.{u90} hvb.{u140} \
    {A14}.atlasv1.{u60} MT{A22}.{A6}.{u27} {d10}:AA{u33} SK{h32} dop_v1_{h64} doo_v1_{h64} dor_v1_{h64} HRKU-AA{u58} \
    nfp_{A40} rnd_{A32} sbp_{h40} pscale_tkn_{u43} pscale_pw_{u43} napi_{L60} shpat_{h32} shpss_{h32} shpca_{h32} shppa_{h32} \
    sq0atp-{u22} sq0csp-{u43} EAACEdEose0cBA{A80} lin_api_{A40} secret_{A43} ntn_{d11}{A35} figd_{u40} 1/{d16}:{h32} \
    ATATT3xFfGF0{u180} ATBB{A32} pat{A14}.{h64} sl.{u130} dp.pt.{A43} dp.st.prd.{A43} dapi{h32} glsa_{A32}_{h8} \
    glc_{b80} NRAK-{U27} sntrys_{b80} sntryu_{h64} dt0c01.{U24}.{U64} v1.0-{h24}-{h146} AGE-SECRET-KEY-1{U58} \
    gsk_{A52} r8_{A37} pplx-{A48} xai-{A80} fw_{A24} tvly-{A32} lsv2_pt_{h32}_{h10} pcsk_{A70} CFPAT-{u43} pnu_{A36} \
    pul-{h40} PMAK-{h24}-{h34} aio_{A28} ops_eyJ{u120} sk.eyJ{u60}.{u22} tfp_{A44}_{A14} EZAK{A54} \
    FLWSECK-{h32}-X ico-{A32} sqp_{h40} CCIPAT_{A22}_{h40} bkua_{h40} AKCp8{A68} tskey-auth-{A12}-{A32} cio{A32} \
    eyJ{A20}.eyJ{A20}.{u43} $2y$10${A53} $6${A16}${A86} $apr1${A8}${A22}";

/// Secrets that are known by what stands around them.
const PLACED: &[&str] = &[
    "[default]\naws_secret_access_key = {b40}\n",
    "AWS_SESSION_TOKEN={b200}",
    "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{A24}",
    "https://discord.com/api/webhooks/123456789012345678/{u68}",
    "TWILIO_AUTH_TOKEN={h32}",
    "DD_API_KEY={h32}",
    "CLOUDFLARE_API_TOKEN={u40}",
    "VERCEL_TOKEN={A24}",
    "postmark_server_token: {h8}-{h4}-{h4}-{h4}-{h12}",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={b86}==;EndpointSuffix=core.windows.net",
    "https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={A40}%3D",
    "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b43}=",
    "client_secret: {A3}8Q~{u34}",
    "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n{b64}\\n{b64}\\n{b30}==\\n-----END PRIVATE KEY-----\\n\"",
    "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n{b20}=\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{b70}\n{b70}\n{b20}=\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{b64}\n{b64}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
    "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{b47}=\nPrivate-MAC: 00",
    "{\"kty\": \"EC\", \"crv\": \"P-256\", \"d\": \"{u43}\"}",
    "machine api.example.com login me password {A20}\n",
    "machine api.example.com\n  login me\n  password {A20}\n",
    "default login me password {A20}\n",
    "//npm.example/:_authToken={h8}-{h4}-{h4}-{h4}-{h12}",
    "//registry.example/:_auth={b43}=",
    "[pypi]\nusername = me\npassword = {A24}\n",
    "{\"auths\": {\"ghcr.io\": {\"auth\": \"bWU6{b28}\"}}}",
    "{\"auths\": {\"x\": {\"identitytoken\": \"{u60}\"}}}",
    "users:\n- name: me\n  user:\n    client-key-data: {b400}\n",
    "users:\n- user:\n    token: {u60}\n",
    "kind: Secret\ndata:\n  password: {b30}==\n",
    "me:{d1}$apr1${A8}${A22}",
    "db.internal:5432:app:me:{A16}!x\n",
    "define('DB_PASSWORD', '{A20}');",
    "define( 'NONCE_SALT', '{A64}' );",
    "secret_key_base: {h128}",
    "SECRET_KEY = 'django-insecure-{A50}'",
    "APP_KEY=base64:{b43}=",
    "postgres://app:{A18}@db.internal/x",
    "jdbc:mysql://db/x?user=me&password={A18}",
    "redis://:{A24}@cache.internal:6379/0",
    "mongodb+srv://me:{A20}@cluster.example/x",
    "Authorization: Basic {b30}==",
    "Authorization: Bearer {u40}",
    "Authorization: token {h40}",
    "Authorization: ApiKey {b58}==",
    "Authorization: SSWS {u42}",
    "X-Api-Key: {A32}",
    "curl -u me:{A20} https://example.com",
    "curl --user 'me:{A20}' https://example.com",
    "[Interface]\nPrivateKey = {b43}=\n",
    "COHERE_API_KEY={A40}",
    "MISTRAL_API_KEY='{A32}'",
    "{\"refresh_token\": \"{u60}\"}",
    "signing.password={A16}",
    "spring.datasource.password={A16}",
    "<password>{A20}</password>",
    "<add key=\"ClientSecret\" value=\"{A32}\" />",
    "password: |\n  {A24}\n",
    "ENV DB_PASSWORD {A20}",
    "sshpass -p {A14}x1 ssh host",
    "mysql -u root -p{A16} db",
    "--password {A20}",
    "export GITHUB_TOKEN={A40}",
    "netrc: machine x login y password {A20} macdef z",
];

/// Tokens as base64.
const ENCODED: &[&str] = &[
    "ghp_{A36}",
    "github_pat_11{A20}_{A59}",
    "glpat-{u20}",
    "sk-ant-api03-{u93}",
    "sk-proj-{u80}",
    "AKIA{U16}",
    "xoxb-{d12}-{d13}-{A24}",
    "hf_{A34}",
    "npm_{A36}",
    "SG.{u22}.{u43}",
    "sk_live_{A24}",
    "-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n-----END PRIVATE KEY-----\n",
];

/// Tokens over two lines.
const SPLIT: &[&str] = &[
    "token = (\"ghp_{A18}\"\n         \"{A18}\")",
    "const t = \"sk-proj-{A20}\" +\n    \"{A20}\";",
    "export T=AKIA{U8}\\\n{U8}",
    "text: >\n  glpat-{A12}\n  {A12}\n",
    "'xoxb-{d12}-' .\n  '{d13}-{A24}'",
    "the token is hf_{A16}\n{A18} as above",
    "npm_{A20}\\\n    {A16}",
    "`sk-ant-api03-{A30}`,\n`{A30}`",
];

/// What of a corpus gets through: templates.
fn leaks(corpus: impl Iterator<Item = (String, String, Vec<String>)>) -> (usize, Vec<String>) {
    let redaction = Redaction::new(&[]).unwrap();
    let (mut count, mut leaks) = (0, vec![]);
    for (template, text, pieces) in corpus {
        count += 1;
        let hidden = redaction.hide(&format!("before\n{text}\nafter\n"));
        assert_eq!(hidden.matches('\n').count(), text.matches('\n').count() + 3, "{template}: lines hold");
        assert!(hidden.starts_with("before\n") && hidden.ends_with("\nafter\n"), "{template}: {hidden}");
        let is_left = |piece: &String| piece.len() >= SECRET_BYTES && hidden.contains(piece.as_str());
        if pieces.iter().any(is_left) {
            leaks.push(template);
        }
    }
    (count, leaks)
}

fn corpus() -> impl Iterator<Item = (String, String, Vec<String>)> {
    let mut dice = Dice(23);
    let tokens = TOKENS.split_whitespace().map(|token| format!("const it = {token};"));
    let placed = PLACED.iter().chain(SPLIT).map(|template| (*template).to_owned());
    let all: Vec<_> = tokens
        .chain(placed)
        .map(|template| {
            let (text, pieces) = dice.fill(&template);
            (template, text, pieces)
        })
        .collect();
    let encoded: Vec<_> = ENCODED
        .iter()
        .map(|template| {
            let text = base64(dice.fill(template).0.as_bytes());
            // The beginning and the end are shared with other texts.
            let piece = text[12..text.len() - 4].to_owned();
            (format!("base64 of {template}"), format!("value: {text}"), vec![piece])
        })
        .collect();
    all.into_iter().chain(encoded)
}

#[test]
fn issue_23_95_of_100_kinds_of_secrets_are_found() {
    let (count, leaks) = leaks(corpus());
    assert!(count >= 150, "{count}");
    assert!(leaks.len() * 20 <= count, "{} of {count}: {leaks:#?}", leaks.len());
}
