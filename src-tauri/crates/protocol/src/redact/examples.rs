//! Texts with secrets under their names, in many shapes, and texts that look like them and hold none.

/// Texts with what is left of them. Values are made up.
pub(super) const MASKED: &[(&str, &str)] = &[
    // Files of settings.
    (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n",
        "aws_secret_access_key = ***\n",
    ),
    (
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AWS_SECRET_ACCESS_KEY=***",
    ),
    ("password = hunter2\n", "password = ***\n"),
    ("password=hunter2\n", "password=***\n"),
    (
        "DB_PASS=letmein\nDB_USER=ada\n",
        "DB_PASS=***\nDB_USER=ada\n",
    ),
    (
        "export GITHUB_TOKEN=a1b2c3d4e5f6\n",
        "export GITHUB_TOKEN=***\n",
    ),
    ("export TOKEN='abc123def456'", "export TOKEN='***'"),
    (
        "spring.datasource.password=s3cr3t!x\n",
        "spring.datasource.password=***\n",
    ),
    ("requirepass foobared1\n", "requirepass ***\n"),
    (
        "     3\tDB_PASSWORD=letmein1\n",
        "     3\tDB_PASSWORD=***\n",
    ),
    (".env:3:DB_PASSWORD=letmein1\n", ".env:3:DB_PASSWORD=***\n"),
    ("+API_KEY=9f8e7d6c5b4a\n", "+API_KEY=***\n"),
    // YAML and TOML.
    (
        "db:\n  password: hunter2\n  port: 5432\n",
        "db:\n  password: ***\n  port: 5432\n",
    ),
    (
        "  - client_secret: Zx9-Ty7.Qw5\n",
        "  - client_secret: ***\n",
    ),
    ("api_key: 'k3y-9f8e7d6c'\n", "api_key: '***'\n"),
    (
        "password: |\n  s3cr3t-line\nuser: x\n",
        "password: |\n  ***\nuser: x\n",
    ),
    ("token = \"tok_9f8e7d6c5b4a\"\n", "token = \"***\"\n"),
    // JSON, also within a text.
    (
        "{\"password\": \"hunter two!\", \"user\": \"ada\"}",
        "{\"password\": \"***\", \"user\": \"ada\"}",
    ),
    (
        "{\"client_secret\":\"9f8e7d6c5b4a\"}",
        "{\"client_secret\":\"***\"}",
    ),
    (
        "{\\\"apiKey\\\": \\\"9f8e7d6c5b4a\\\", \\\"n\\\": 1}",
        "{\\\"apiKey\\\": \\\"***\\\", \\\"n\\\": 1}",
    ),
    ("{\"password\": \"a\\\"b1c\"}", "{\"password\": \"***\"}"),
    (
        "\"password\":\n    \"hunter2\"",
        "\"password\":\n    \"***\"",
    ),
    (
        "{\"auths\": {\"ghcr.io\": {\"auth\": \"dXNlcjpwYXNzd29yZDEyMw==\"}}}",
        "{\"auths\": {\"ghcr.io\": {\"auth\": \"***\"}}}",
    ),
    // Addresses.
    (
        "postgres://app:s3cr3t@db.example:5432/x",
        "postgres://app:***@db.example:5432/x",
    ),
    (
        "url = https://u:p%40ss@h.example/",
        "url = https://u:***@h.example/",
    ),
    (
        "redis://:hunter2@localhost:6379",
        "redis://:***@localhost:6379",
    ),
    (
        "https://x.example/cb?user=a&access_token=9f8e7d6c5b4a&b=1",
        "https://x.example/cb?user=a&access_token=***&b=1",
    ),
    // Headers.
    ("X-Api-Key: 9f8e7d6c5b4a3\r\n", "X-Api-Key: ***\r\n"),
    (
        "Authorization: Basic QWxhZGRpbjpvcGVuc2VzYW1l\n",
        "Authorization: Basic ***\n",
    ),
    (
        "authorization: token 9f8e7d6c5b4a\n",
        "authorization: token ***\n",
    ),
    (
        "curl -H 'Authorization: Basic QWxhZGRpbg==' x",
        "curl -H 'Authorization: Basic ***' x",
    ),
    (
        "Cookie: session=abc; theme=dark\nHost: x",
        "Cookie: ***\nHost: x",
    ),
    ("Set-Cookie: sid=38afes7a8; HttpOnly\n", "Set-Cookie: ***\n"),
    // What tools have of their own.
    (
        "//packages.example/:_authToken=9f8e7d6c-5b4a-3c2d\n",
        "//packages.example/:_authToken=***\n",
    ),
    (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==;EndpointSuffix=y",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=***;EndpointSuffix=y",
    ),
    (
        "Server=db;User Id=sa;Password=Str0ng!Pw;Encrypt=true",
        "Server=db;User Id=sa;Password=***;Encrypt=true",
    ),
    (
        "machine h.example login ada password hunter2\n",
        "machine h.example login ada password ***\n",
    ),
    ("<password>hunter2</password>", "<password>***</password>"),
    (
        "<add key=\"Password\" value=\"hunter2!\" />",
        "<add key=\"Password\" value=\"***\" />",
    ),
    (
        "<string name=\"api_key\">9f8e7d6c5b4a</string>",
        "<string name=\"api_key\">***</string>",
    ),
    (
        "<key>apiToken</key>\n\t<string>9f8e7d6c5b4a</string>",
        "<key>apiToken</key>\n\t<string>***</string>",
    ),
    ("ENV DB_PASSWORD hunter2\n", "ENV DB_PASSWORD ***\n"),
    ("mysql --password=hunter2 -h x", "mysql --password=*** -h x"),
    (
        "vault login --token s1a2b3c4d5e6 x",
        "vault login --token *** x",
    ),
    ("PGPASSWORD=letmein psql -h x", "PGPASSWORD=*** psql -h x"),
    (
        "{\"command\":\"PGPASSWORD=letmein psql\"}",
        "{\"command\":\"PGPASSWORD=*** psql\"}",
    ),
    // Code with a secret in it.
    ("const password = 'hunter2';", "const password = '***';"),
    (
        "let api_key: &str = \"9f8e7d6c5b4a\";",
        "let api_key: &str = \"***\";",
    ),
    (
        "var token string = \"9f8e7d6c5b4a\"",
        "var token string = \"***\"",
    ),
    ("secret := `9f8e7d6c5b4a`", "secret := `***`"),
    (
        "$config['password'] = 'hunter2';",
        "$config['password'] = '***';",
    ),
    ("'api_token' => '9f8e7d6c5b4a',", "'api_token' => '***',"),
    (
        "define('DB_PASSWORD', 'hunter22');",
        "define('DB_PASSWORD', '***');",
    ),
    (
        "#define API_KEY \"9f8e7d6c5b4a\"",
        "#define API_KEY \"***\"",
    ),
    (
        "config.put(\"API_TOKEN\", \"9f8e7d6c5b4a\");",
        "config.put(\"API_TOKEN\", \"***\");",
    ),
    // Known by their beginning, and the other half of a pair.
    (
        "k AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
        "k ***",
    ),
    ("x ya29.a0AfH6SMBx9f8e7d6c5b4a3c2d1e y", "x *** y"),
    (
        "Access key ID,Secret access key\nAKIAIOSFODNN7EXAMPLE,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n",
        "Access key ID,Secret access key\n***,***\n",
    ),
];

/// Texts that hold no secret, most of them code.
pub(super) const KEPT: &[&str] = &[
    "let token = parser.next();",
    "token = parser.next()",
    "password: string",
    "  password: string;",
    "secret: Option<String>,",
    "pub token: String,",
    "password?: string | null",
    "def login(user: str, password: str = None):",
    "function login(user, password) {",
    "const { password, token } = req.body;",
    "api_key = os.environ[\"API_KEY\"]",
    "api_key=os.getenv('API_KEY')",
    "token = os.environ.get(\"GITHUB_TOKEN\")",
    "password = input('Password: ')",
    "password = get_password(user)",
    "password=password,",
    "password=args.password,",
    "    token=self.token,",
    "token: token,",
    "token: nextToken,",
    "if (token === null) {",
    "if token == Token::Eof {",
    "token!(Comma)",
    "tokens: 4096",
    "\"max_tokens\": 4096,",
    "\"token_type\": \"bearer\"",
    "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
    "checksum = \"9fd45d1b2d5ff5d1b1c0cb0ef0d0a3a7d4f3a2f1e0b9c8d7e6f5a4b3c2d1e0f9\"",
    "password: ${{ secrets.DB_PASSWORD }}",
    "password: ${DB_PASSWORD}",
    "PASSWORD=$DB_PASSWORD",
    "PASSWORD=\"$(pass show db)\"",
    "password = \"<your password>\"",
    "password: \"\"",
    "PASSWORD=",
    "token: null",
    "secret: true",
    "pass: 12",
    "\"password\": \"Password\"",
    "\"password\": \"Mot de passe\"",
    "\"password\": \"Your password must not be empty\"",
    "<label for=\"password\">Password</label>",
    "<input type=\"password\" name=\"password\" id=\"password\">",
    "errors.password = 'is too short'",
    "The password is checked first, then the token.",
    "Token: see the manual.",
    "secretName: my-tls-secret",
    "secretKeyRef:\n  name: db\n  key: password\n",
    "key: \"ArrowDown\"",
    "primaryKey: 'user_id'",
    "public_key = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ\"",
    "cache_key = f\"user:{id}\"",
    "next_page_token: \"CAUQAA12345678\"",
    "X-Api-Key: ${API_KEY}",
    "Authorization: Bearer ${token}",
    "headers: { Authorization: `Bearer ${token}` }",
    "https://example.com:8080/path@2x.png",
    "postgres://user:${PASSWORD}@localhost/db",
    "https://{user}:{password}@{host}/",
    "git@github.com:rust-lang/rust.git",
    "author = \"Ada Lovelace\"",
    "keyboard: enabled",
    "map.get(\"token\", \"default\")",
    "fields = [\"password\", \"email\"]",
    "match token { Token::Word(word) => word, Token::End => break }",
    "let secret = Secret::new(&key);",
    "self.password = password;",
    "SECRET_KEY = env('SECRET_KEY')",
    "cookie: Cookie::parse(header)?,",
    "authorization: req.headers.authorization,",
    "\"authorization\" => return Header::Authorization,",
    "authorization: Option<Authorization>,",
    "use crate::token::look;",
    "signature = inspect.signature(function)",
    "--password-stdin",
    "assert_eq!(token, expected);",
    "type Token = string;",
    "private final String password;",
    "String token = request.getHeader(\"X-Token\");",
    "token := scanner.Scan()",
    "key=lambda pair: pair[1]",
    "auth: AuthConfig,",
    "auth = HTTPBasicAuth(user, password)",
    "commit 9fd45d1b2d5ff5d1b1c0cb0ef0d0a3a7d4f3a2f1",
];
