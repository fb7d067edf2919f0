# The workspace of the office day: the tickets of a small theatre. A shop in PHP with migrations and queues, a scanner app in
# Kotlin, a worker in C#, a Helm chart, a handbook in LaTeX, and tables that people edit by hand; some work that is not committed,
# commits that were never pushed, a stash, secrets that git ignores, and a bare repository as the remote. Run in an empty folder.
set -e
export GIT_CONFIG_GLOBAL=/dev/null
git init -q -b main .
git config user.email office@lindenhof.example
git config user.name Office
mkdir -p app/Models app/Jobs app/Services app/Http/Middleware config routes database/migrations database/seeders \
  resources/js resources/views tests/Feature chart/templates scanner/app/src/main/res/xml scanner/app/src/main/kotlin \
  scanner/gradle/wrapper worker handbook/chapters data/seating tools docs/adr docker notes storage/app/uploads storage/logs \
  storage/framework/cache public/build var .vscode
cat > .gitignore <<'I'
/vendor/
/node_modules/
/public/build/
/storage/app/uploads/
/storage/framework/
/var/
.env
.env.*
!.env.example
auth.json
*.log
*.sqlite
*.aux
*.toc
*.pdf
build/
.gradle/
bin/
obj/
local.properties
*.keystore
__pycache__/
I
printf 'root = true\n\n[*]\nindent_style = space\nindent_size = 4\n\n[*.{js,yaml,yml}]\nindent_size = 2\n' > .editorconfig
cat > composer.json <<'J'
{
    "name": "lindenhof/tickets",
    "type": "project",
    "require": {
        "php": "^8.3",
        "laravel/framework": "^11.0"
    },
    "autoload": {
        "psr-4": { "App\\": "app/" }
    },
    "scripts": {
        "test": "phpunit",
        "lint": "php-cs-fixer check"
    },
    "config": {
        "secure-http": true,
        "sort-packages": true
    }
}
J
printf '{\n    "packages": [\n        { "name": "laravel/framework", "version": "v11.9.2" }\n    ]\n}\n' > composer.lock
cat > package.json <<'J'
{
  "name": "lindenhof-tickets",
  "private": true,
  "type": "module",
  "scripts": {
    "build": "node tools/build_assets.js",
    "test": "node --test resources/js/"
  }
}
J
cat > app/Models/Booking.php <<'P'
<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

class Booking extends Model
{
    protected $fillable = ['seat', 'member_id', 'paid_at'];

    public function isPaid(): bool
    {
        return $this->paid_at !== null;
    }
}
P
cat > app/Jobs/SendTickets.php <<'P'
<?php

namespace App\Jobs;

use Illuminate\Contracts\Queue\ShouldQueue;

class SendTickets implements ShouldQueue
{
    public int $tries = 3;

    public function handle(): void
    {
        // Sends one mail for each booking that is paid.
    }
}
P
cat > app/Services/PriceList.php <<'P'
<?php

namespace App\Services;

class PriceList
{
    public function price(string $category): int
    {
        return match ($category) {
            'stalls' => 2800,
            'circle' => 2200,
            'gallery' => 1200,
        };
    }
}
P
cat > app/Http/Middleware/VerifyCsrfToken.php <<'P'
<?php

namespace App\Http\Middleware;

class VerifyCsrfToken extends \Illuminate\Foundation\Http\Middleware\VerifyCsrfToken
{
    protected $except = [];
}
P
printf "<?php\n\nreturn [\n    'default' => env('QUEUE_CONNECTION', 'database'),\n    'retry_after' => 90,\n];\n" > config/queue.php
printf "<?php\n\nreturn [\n    'lifetime' => 120,\n    'secure' => true,\n    'http_only' => true,\n    'same_site' => 'lax',\n];\n" > config/session.php
cat > config/mail.php <<'P'
<?php

return [
    'default' => 'smtp',
    'mailers' => [
        'smtp' => [
            'host' => env('MAIL_HOST'),
            'port' => 587,
            'encryption' => 'tls',
            'verify_peer' => true,
        ],
    ],
];
P
printf "<?php\n\nuse Illuminate\\\\Support\\\\Facades\\\\Route;\n\nRoute::get('/', fn () => view('welcome'));\nRoute::post('/bookings', 'BookingController@store');\n" > routes/web.php
printf "<?php\n\nuse Illuminate\\\\Support\\\\Facades\\\\Schedule;\n\nSchedule::command('tickets:send')->dailyAt('06:00');\n" > routes/console.php
printf "<?php\n\n// Makes the table of bookings.\nreturn new class {\n    public function up() { Schema::create('bookings', fn (\$table) => \$table->id()); }\n};\n" > database/migrations/2025_01_10_create_bookings.php
printf "<?php\n\nclass DatabaseSeeder\n{\n    public function run(): void {}\n}\n" > database/seeders/DatabaseSeeder.php
cat > resources/js/seatmap.js <<'J'
/** The seats of a row, as labels. */
export function seats(row, count) {
  return Array.from({ length: count }, (_, n) => `${row}${n + 1}`);
}

export function isFree(seat, taken) {
  return !taken.includes(seat);
}
J
cat > resources/js/seatmap.test.js <<'J'
import test from 'node:test';
import assert from 'node:assert';
import { seats, isFree } from './seatmap.js';

test('labels of a row', () => assert.deepEqual(seats('B', 2), ['B1', 'B2']));
test('a taken seat', () => assert.equal(isFree('B1', ['B1']), false));
J
printf '<h1>{{ $play }}</h1>\n<form method="post" action="/bookings">@csrf</form>\n' > resources/views/booking.blade.php
printf '<?php\n\nclass BookingTest extends TestCase\n{\n    public function test_a_paid_booking(): void\n    {\n        $this->assertTrue(true);\n    }\n}\n' > tests/Feature/BookingTest.php
printf '<phpunit>\n  <testsuites><testsuite name="Feature"><directory>tests/Feature</directory></testsuite></testsuites>\n</phpunit>\n' > phpunit.xml
printf 'apiVersion: v2\nname: tickets\nversion: 0.8.1\nappVersion: 2.3.0\n' > chart/Chart.yaml
cat > chart/values.yaml <<'Y'
image:
  repository: registry.lindenhof.example/tickets
  tag: 2.3.0
replicas: 2
securityContext:
  runAsNonRoot: true
  allowPrivilegeEscalation: false
persistence:
  enabled: true
  size: 20Gi
ingress:
  tls: true
Y
cat > chart/templates/deployment.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: tickets
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
        - name: tickets
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
Y
printf 'apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: tickets\nspec:\n  policyTypes: [Ingress]\n  ingress:\n    - from:\n        - podSelector: { matchLabels: { app: front } }\n' > chart/templates/networkpolicy.yaml
printf 'pluginManagement {\n    repositories { google(); mavenCentral() }\n}\nrootProject.name = "scanner"\ninclude(":app")\n' > scanner/settings.gradle.kts
cat > scanner/app/build.gradle.kts <<'K'
plugins { id("com.android.application") }

android {
    namespace = "example.lindenhof.scanner"
    defaultConfig { versionCode = 17; versionName = "1.7" }
    buildTypes { release { isMinifyEnabled = true } }
}

dependencies {
    implementation("androidx.core:core-ktx:1.13.1")
}
K
printf 'distributionUrl=https\\://services.gradle.org/distributions/gradle-8.7-bin.zip\ndistributionSha256Sum=544c35d6bd849ae8a5ed0bcea39ba677dc40f49df7d1835561582da2009b961d\n' > scanner/gradle/wrapper/gradle-wrapper.properties
printf '<network-security-config>\n  <base-config cleartextTrafficPermitted="false"/>\n</network-security-config>\n' > scanner/app/src/main/res/xml/network_security_config.xml
printf '<manifest xmlns:android="http://schemas.android.com/apk/res/android">\n  <uses-permission android:name="android.permission.CAMERA"/>\n  <application android:label="Scanner" android:allowBackup="false"/>\n</manifest>\n' > scanner/app/src/main/AndroidManifest.xml
printf 'package example.lindenhof.scanner\n\nclass Scanner {\n    fun isValid(code: String) = code.length == 12\n}\n' > scanner/app/src/main/kotlin/Scanner.kt
cat > worker/Worker.csproj <<'X'
<Project Sdk="Microsoft.NET.Sdk.Worker">
  <PropertyGroup>
    <TargetFramework>net8.0</TargetFramework>
    <Nullable>enable</Nullable>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="MailKit" Version="4.6.0" />
  </ItemGroup>
</Project>
X
printf 'var builder = Host.CreateApplicationBuilder(args);\nbuilder.Services.AddHostedService<Worker>();\nbuilder.Build().Run();\n' > worker/Program.cs
printf '<configuration>\n  <packageSources>\n    <clear />\n    <add key="nuget" value="https://api.nuget.org/v3/index.json" />\n  </packageSources>\n</configuration>\n' > worker/nuget.config
printf '\\documentclass{report}\n\\begin{document}\n\\input{chapters/doors}\n\\input{chapters/cash}\n\\input{chapters/refunds}\n\\end{document}\n' > handbook/handbook.tex
printf '$pdf_mode = 1;\n' > handbook/.latexmkrc
printf '\\chapter{Doors}\nDoors open forty minutes before the play.\nNobody is let in after the first act.\n' > handbook/chapters/doors.tex
printf '\\chapter{Cash}\nThe till is counted twice, by two people.\nThe sum is written into the book.\n' > handbook/chapters/cash.tex
printf '\\chapter{Refunds}\nTickets are taken back until noon.\n' > handbook/chapters/refunds.tex
{ echo id,name,since,category; n=1; while [ $n -le 40 ]; do echo "$n,Member $n,20$((10 + n % 14)),$([ $((n % 3)) = 0 ] && echo friend || echo regular)"; n=$((n + 1)); done; } > data/members.csv
printf 'stalls: 2800\ncircle: 2200\ngallery: 1200\nconcession: 0.7\n' > data/prices.yaml
printf '{\n  "season": "2026/27",\n  "plays": [\n    { "title": "The Seagull", "nights": 14 },\n    { "title": "Woyzeck", "nights": 9 },\n    { "title": "Twelfth Night", "nights": 21 }\n  ]\n}\n' > data/season.json
for hall in main studio foyer; do { echo row,seats; for row in A B C D E F; do echo "$row,$((10 + ${#hall}))"; done; } > data/seating/$hall.csv; done
cat > tools/build_assets.js <<'J'
import fs from 'node:fs';
fs.mkdirSync('public/build', { recursive: true });
for (let n = 0; n < 240; n += 1) fs.writeFileSync(`public/build/chunk-${n}.js`, `export default ${n};\n`);
console.log('240 chunks');
J
cat > tools/check_prices.py <<'P'
"""Says which prices of the list are no whole coins."""

import pathlib

for line in pathlib.Path("data/prices.yaml").read_text().splitlines():
    name, _, price = line.partition(": ")
    if price.isdigit() and int(price) % 50:
        print(f"{name}: {price}")
print("checked")
P
printf '#!/usr/bin/perl\n# Counts the words of each chapter.\nuse strict;\nuse warnings;\nfor my $file (sort glob "handbook/chapters/*.tex") {\n    open my $in, "<", $file or die;\n    my $words = 0;\n    $words += () = /\\w+/g while <$in>;\n    print "$file: $words\\n";\n}\n' > tools/count_words.pl
printf '#!/bin/sh\nset -e\nmkdir -p build\ncat handbook/chapters/*.tex > build/handbook.txt\nwc -l build/handbook.txt\n' > tools/render.sh
chmod +x tools/render.sh tools/count_words.pl
cat > Makefile <<'M'
.PHONY: test assets handbook clean

test:
	npm test --silent
	python3 tools/check_prices.py

assets:
	npm run --silent build

handbook:
	tools/render.sh

clean:
	rm -rf build public/build
M
printf 'FROM php:8.3-apache\nCOPY . /var/www\nUSER www-data\nENTRYPOINT ["/var/www/docker/entrypoint.sh"]\n' > docker/Dockerfile
printf '#!/bin/sh\nset -e\nexec apache2-foreground\n' > docker/entrypoint.sh
printf 'services:\n  shop:\n    build: docker\n  db:\n    image: postgres:16\n    volumes: [db:/var/lib/postgresql/data]\nvolumes:\n  db:\n' > compose.yaml
printf '# Runs on every push.\nstages: [test, deploy]\n\ntest:\n  stage: test\n  script:\n    - make test\n' > .gitlab-ci.yml
printf '{\n  "editor.formatOnSave": true\n}\n' > .vscode/settings.json
printf '# For agents\n\nRun `make test` after every change. Never touch `data/` without being asked.\n' > AGENTS.md
printf '# Tickets\n\nThe shop of the Lindenhof theatre.\n\n## Start\n\n`make test`\n' > README.md
printf '# 1. Queues in the database\n\nOne service less to run.\n' > docs/adr/0001-queues.md
printf '# Changes\n\n## 2.3.0\n\n- Seats can be chosen.\n' > CHANGELOG.md
printf 'APP_KEY=\nMAIL_PASSWORD=\n' > .env.example
git add .
git commit -qm 'Begin the shop'
printf '\n## Handbook\n\n`make handbook`\n' >> README.md
git commit -qam 'Say how the handbook is made'
git tag v2.3.0
git init -q --bare -b main var/origin.git
git remote add origin ./var/origin.git
git push -q origin main v2.3.0
git switch -qc refunds
printf '<?php\n\nnamespace App\\Services;\n\nclass Refunds\n{\n}\n' > app/Services/Refunds.php
git add . && git commit -qm 'Begin refunds'
printf '\nRefunds are paid within a week.\n' >> docs/adr/0001-queues.md
git commit -qam 'Note the term of refunds'
git switch -qc seatmap-spike main
printf 'export const curve = (n) => Math.sin(n / 10);\n' > resources/js/curve.js
git add . && git commit -qm 'Try curved rows'
git switch -q main
printf '\n- Prices can be read as a file.\n' >> CHANGELOG.md
git commit -qam 'Note the price file'
printf 'export const aisle = 7;\n' >> resources/js/seatmap.js
git stash push -qm 'half an aisle'
# What people have not committed.
sed -i "s/'gallery' => 1200/'gallery' => 1350/; s/'circle' => 2200/'circle' => 2400/" app/Services/PriceList.php
printf 'stalls: 2950\ncircle: 2400\ngallery: 1350\nconcession: 0.7\nstudents: 0.5\npremiere: 3600\n' > data/prices.yaml
printf '\\chapter{Refunds}\nTickets are taken back until noon.\nAfter noon only the head of the office decides.\nNo refunds on premieres.\n' > handbook/chapters/refunds.tex
git add handbook/chapters/refunds.tex
printf '\\chapter{Ushers}\nUshers come an hour before the doors open.\nEach usher has one door.\nThe head usher has the keys.\nThe keys are counted.\nNobody takes a key home.\n' > handbook/chapters/ushers.tex
printf 'id,name,phone,seats\n1,Ott,0301,2\n2,Kern,0302,4\n3,Paul,0303,1\n4,Lenz,0304,2\n5,Raab,0305,6\n6,Sauer,0306,2\n7,Thiel,0307,3\n8,Ulm,0308,2\n' > data/waiting_list.csv
printf 'Monday: the printer called about the posters.\nTuesday: Mrs Kern wants four seats together.\nWednesday: the fire inspection is at ten.\nThursday: ask the bank.\n' > notes/phone-calls.md
printf '// Half-finished work of a person.\npublic class Reminders\n{\n    public void SendAll()\n    {\n        // Everybody who has not paid after ten days.\n    }\n}\n' > worker/Reminders.cs
# What git ignores.
printf 'APP_KEY=base64:Zk3vQ9tLw2Xn8RbYc5Hd7JgPs1MfAeUo\nMAIL_PASSWORD=wD5nT8xKq2Vz\nDB_PASSWORD=Hq7pLr3sNm9B\n' > .env
printf '{ "http-basic": { "packages.lindenhof.example": { "username": "shop", "password": "Yt6RkW2pZq8M" } } }\n' > auth.json
printf 'sdk.dir=/opt/android\nkeystore.password=Bv4Xc9Lm2Qw7\n' > scanner/local.properties
printf 'not really a keystore, but the only one\n' > scanner/release.keystore
printf 'Contract with the guest company, signed on 3 March.\nThe fee is paid in two parts.\n' > storage/app/uploads/contract.txt
printf '[06:00] sent 14 mails\n[06:01] failed 1\n' > storage/logs/laravel.log
printf 'cached\n' > storage/framework/cache/views
printf 'export default 0;\n' > public/build/old.js
python3 - <<'P'
import sqlite3
box = sqlite3.connect("data/box_office.sqlite")
box.execute("create table sales (id integer primary key, play text, seats integer, paid integer)")
box.executemany("insert into sales (play, seats, paid) values (?, ?, ?)", [("Woyzeck", n % 4 + 1, n % 5 != 0) for n in range(60)])
box.execute("create table vouchers (code text primary key, worth integer)")
box.executemany("insert into vouchers values (?, ?)", [(f"V{n:03}", 2500) for n in range(12)])
box.commit()
P
