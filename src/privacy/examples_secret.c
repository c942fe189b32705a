/* Secrets by their keys, words, commands and URLs; and what looks like them. All of it is made up,
 * and what a vendor's key looks like is written in pieces, so that nobody who looks for keys in
 * this file finds one. */
#include "privacy/examples.h"

const struct cs_example cs_examples_secret[] = {
    {"password",
     "[database]\n"
     "user = \"app\"\n"
     "password = \"<<PASSWORD|Tr0ub4dor&3>>\"",
     CS_PRIVACY_LOW},
    {"password",
     "{\"db\": {\"host\": \"localhost\", \"user\": \"app\", \"passwd\": "
     "\"<<PASSWORD|s3kr1t-Horse>>\"}}",
     CS_PRIVACY_LOW},
    {"password", "{\"name\": \"DB_PASSWORD\", \"value\": \"<<PASSWORD|kupferKessel77>>\"}",
     CS_PRIVACY_LOW},
    {"password",
     "        env:\n"
     "        - name: DB_PASSWORD\n"
     "          value: \"<<PASSWORD|kupferKessel77>>\"\n"
     "        - name: LOG_LEVEL\n"
     "          value: debug",
     CS_PRIVACY_LOW},
    {"password",
     "services:\n"
     "  db:\n"
     "    environment:\n"
     "      POSTGRES_USER: app\n"
     "      POSTGRES_PASSWORD: <<PASSWORD|hibiskus>>\n"
     "      MYSQL_ROOT_PASSWORD: \"<<PASSWORD|wolkenkratzer>>\"",
     CS_PRIVACY_LOW},
    {"password", "export PGPASSWORD=<<PASSWORD|blauerWal9>> && psql -h db -U app", CS_PRIVACY_LOW},
    {"password", "CREATE USER 'report'@'%' IDENTIFIED BY '<<PASSWORD|Regenbogen!5>>';",
     CS_PRIVACY_LOW},
    {"password", "ALTER USER app WITH PASSWORD '<<PASSWORD|Regenbogen!5>>';", CS_PRIVACY_LOW},
    {"password",
     "machine git.acme.test\n"
     "login ci-bot\n"
     "password <<PASSWORD|wintersonne>>",
     CS_PRIVACY_LOW},
    {"password", "machine git.acme.test login ci-bot password <<PASSWORD|winters0nne>>",
     CS_PRIVACY_LOW},
    {"password",
     "Server=tcp:sql.acme.test,1433;Database=crm;User "
     "ID=svc;Password=<<PASSWORD|Wint3r!Zeit>>;Encrypt=True;",
     CS_PRIVACY_LOW},
    {"password", "The root password is <<PASSWORD|Kartoffel42>>, please do not share it.",
     CS_PRIVACY_LOW},
    {"password", "wifi password: <<PASSWORD|Kartoffel42>>", CS_PRIVACY_LOW},
    {"password", "login with user admin and password <<PASSWORD|Kartoffel42>>", CS_PRIVACY_LOW},
    {"password",
     "Username: admin\n"
     "Password: <<PASSWORD|Kartoffelsalat>>",
     CS_PRIVACY_LOW},
    {"password", "password=<<PASSWORD|Kartoffelsalat>>", CS_PRIVACY_LOW},
    {"password", "spring.datasource.password=<<PASSWORD|Kartoffelsalat>>", CS_PRIVACY_LOW},
    {"password", "<property name=\"password\" value=\"<<PASSWORD|Kartoffelsalat>>\"/>",
     CS_PRIVACY_LOW},
    {"password", "<password><<PASSWORD|Kartoffelsalat>></password>", CS_PRIVACY_LOW},
    {"password", "<add key=\"SmtpPassword\" value=\"<<PASSWORD|Kartoffel$alat>>\" />",
     CS_PRIVACY_LOW},
    {"password", "$config['db_pass'] = '<<PASSWORD|Kartoffelsalat>>';", CS_PRIVACY_LOW},
    {"password", "define('DB_PASSWORD', '<<PASSWORD|kart0ffel!salat>>');", CS_PRIVACY_LOW},
    {"password", "variable \"db_password\" { default = \"<<PASSWORD|Regen-schirm7>>\" }",
     CS_PRIVACY_LOW},
    {"password",
     "apiVersion: v1\n"
     "kind: Secret\n"
     "data:\n"
     "  password: <<PASSWORD|c29ubmVuYmx1bWU5OQ==>>\n"
     "  username: YWRtaW4=",
     CS_PRIVACY_LOW},
    {"password", "ansible_become_pass: <<PASSWORD|Regenschirm>>", CS_PRIVACY_LOW},
    {"password", "smtp_pass: \"<<PASSWORD|Regenschirm>>\"", CS_PRIVACY_LOW},
    {"password",
     "| user | password |\n"
     "|------|----------|\n"
     "| svc | <<PASSWORD|Regenschirm7>> |\n"
     "| bot | <<PASSWORD|Hagelkorn>> |",
     CS_PRIVACY_LOW},
    {"password",
     "username,password,role\n"
     "svc,<<PASSWORD|Regenschirm7>>,admin\n"
     "bot,<<PASSWORD|hagel!korn>>,user",
     CS_PRIVACY_LOW},
    {"password",
     "network={\n"
     "    ssid=\"cafe\"\n"
     "    psk=\"<<PASSWORD|Regenschirm7x9>>\"\n"
     "}",
     CS_PRIVACY_LOW},
    {"password", "Your temporary password is: <<PASSWORD|Regenschirm7>>", CS_PRIVACY_LOW},
    {"password",
     "Hi team, the new password for the staging DB is <<PASSWORD|Regenschirm7>> - please rotate "
     "it.",
     CS_PRIVACY_LOW},
    {"password", "pw: <<PASSWORD|Regenschirm7>>", CS_PRIVACY_LOW},
    {"password", "creds are admin:<<PASSWORD|Regenschirm7>>", CS_PRIVACY_LOW},
    {"password", "password -> <<PASSWORD|Regenschirm7>>", CS_PRIVACY_LOW},
    {"password", "password is \"<<PASSWORD|regenschirm>>\".", CS_PRIVACY_LOW},
    {"password",
     "2024-05-01 12:00:01 DEBUG auth: login user=svc password=<<PASSWORD|Regenschirm7>> ip=local",
     CS_PRIVACY_LOW},
    {"password", "private static final String DB_PASSWORD = \"<<PASSWORD|Regenschirm>>\";",
     CS_PRIVACY_LOW},
    {"password", "var dbPassword = \"<<PASSWORD|Regenschirm>>\"", CS_PRIVACY_LOW},
    {"password", "cfg.Password = \"<<PASSWORD|Regenschirm>>\"", CS_PRIVACY_LOW},
    {"password", "let password = String::from(\"<<PASSWORD|Regenschirm7>>\");", CS_PRIVACY_LOW},
    {"password", "Config{User: \"app\", Password: \"<<PASSWORD|Regenschirm>>\", Host: \"db\"}",
     CS_PRIVACY_LOW},
    {"password", "config.password = '<<PASSWORD|Regenschirm>>'", CS_PRIVACY_LOW},
    {"password", ":password => \"<<PASSWORD|Regenschirm>>\",", CS_PRIVACY_LOW},
    {"password", "auth=('svc', '<<PASSWORD|Regenschirm7>>')", CS_PRIVACY_LOW},
    {"password", "login(user='svc', password='<<PASSWORD|Regenschirm>>')", CS_PRIVACY_LOW},
    {"password", "grant_type=password&username=svc&password=<<PASSWORD|Regenschirm7>>&scope=all",
     CS_PRIVACY_LOW},
    {"password", "{\"username\":\"svc\",\"password\":\"<<PASSWORD|regen schirm 7>>\"}",
     CS_PRIVACY_LOW},
    {"password",
     "{\"users\":[{\"login\":\"svc\",\"pwd\":\"<<PASSWORD|Regenschirm>>\",\"pin\":<<PASSWORD|4711>>"
     "}]}",
     CS_PRIVACY_LOW},
    {"password",
     "[mysqld]\n"
     "user=root\n"
     "password=\"<<PASSWORD|ofenrohr>>\"",
     CS_PRIVACY_LOW},
    {"password",
     "[client]\n"
     "password = <<PASSWORD|ofenrohr>>",
     CS_PRIVACY_LOW},
    {"password", "requirepass <<PASSWORD|ofenrohr99>>", CS_PRIVACY_LOW},
    {"password", "rabbitmq_default_pass=<<PASSWORD|ofenrohr>>", CS_PRIVACY_LOW},
    {"password", "KEYSTORE_PASS=<<PASSWORD|Ofen-rohr>>", CS_PRIVACY_LOW},
    {"password",
     "storePassword=<<PASSWORD|ofenrohr>>\n"
     "keyPassword=<<PASSWORD|ofenrohr2>>",
     CS_PRIVACY_LOW},
    {"password", "User Name: svc   Password: <<PASSWORD|Ofenrohr9>>   Role: admin", CS_PRIVACY_LOW},
    {"password", "Login: svc / <<PASSWORD|Ofenrohr9>>", CS_PRIVACY_LOW},
    {"password",
     "Key         Value\n---         -----\npassword    <<PASSWORD|TO7kaGgKlQ!bN>>\nuser    bob",
     CS_PRIVACY_LOW},
    {"password",
     "{\"contrase\xC3\xB1"
     "a\":\"<<PASSWORD|Verano.2024>>\"}",
     CS_PRIVACY_LOW},
    {"password", "{\"db_password\":{\"value\":\"<<PASSWORD|Verano.2024>>\"}}", CS_PRIVACY_LOW},
    {"password", "Passwort: <<PASSWORD|Ofenrohr9>>", CS_PRIVACY_LOW},
    {"password", "PIN: <<PASSWORD|4711>>", CS_PRIVACY_LOW},
    {"password", "\"otp\": \"<<PASSWORD|471147>>\"", CS_PRIVACY_LOW},
    {"password", "**Password:** `<<PASSWORD|Ofenrohr9>>`", CS_PRIVACY_LOW},
    {"password", "- Password: `<<PASSWORD|Ofenrohr9>>`", CS_PRIVACY_LOW},
    {"password", "password (staging): <<PASSWORD|Ofenrohr9>>", CS_PRIVACY_LOW},
    {"password", "args: [\"--password\", \"<<PASSWORD|Ofenrohr9>>\", \"--user\", \"svc\"]",
     CS_PRIVACY_LOW},
    {"password", "temp password for the shop: <<PASSWORD|Kartoffel42>>", CS_PRIVACY_LOW},
    {"password", "use the password <<PASSWORD|kartoffel42>> to log in.", CS_PRIVACY_LOW},
    {"password", "password is still <<PASSWORD|kartoffel42>> :(", CS_PRIVACY_LOW},
    {"password", "wifi pass is <<PASSWORD|kartoffel42>>", CS_PRIVACY_LOW},
    {"password", "pw=<<PASSWORD|kartoffel42>>", CS_PRIVACY_LOW},
    {"password", "ssh root@box, pass: <<PASSWORD|kartoffel42>>", CS_PRIVACY_LOW},
    {"password", "Password for user admin: <<PASSWORD|Kartoffel42>>", CS_PRIVACY_LOW},
    {"command", "mysql -u root -p<<PASSWORD|Sonne2021>> shop < dump.sql", CS_PRIVACY_LOW},
    {"command", "mysqldump --user=backup --password=<<PASSWORD|Sonne2021>> shop", CS_PRIVACY_LOW},
    {"command", "sshpass -p '<<PASSWORD|gr0ss.Stadt>>' ssh root@box", CS_PRIVACY_LOW},
    {"command", "curl -u admin:<<PASSWORD|nimbus-2000>> https://ci.acme.test/job/build",
     CS_PRIVACY_LOW},
    {"command", "curl -X POST --user \"deploy:<<PASSWORD|Kr8tivesPW>>\" https://api.acme.test/v1",
     CS_PRIVACY_LOW},
    {"command", "redis-cli -h cache -a <<PASSWORD|Regenschirm7>> ping", CS_PRIVACY_LOW},
    {"command", "ldapsearch -x -D \"cn=admin,dc=acme\" -w <<PASSWORD|Regenschirm7>> -b dc=acme",
     CS_PRIVACY_LOW},
    {"command", "ConvertTo-SecureString \"<<PASSWORD|Regenschirm7>>\" -AsPlainText -Force",
     CS_PRIVACY_LOW},
    {"command",
     "$cred = New-Object PSCredential(\"svc\", (ConvertTo-SecureString '<<PASSWORD|Regenschirm7>>' "
     "-AsPlainText -Force))",
     CS_PRIVACY_LOW},
    {"command", "psql \"host=db user=app password=<<PASSWORD|Regenschirm7>> dbname=shop\"",
     CS_PRIVACY_LOW},
    {"command", "mongo --host db -u app -p <<PASSWORD|Regenschirm7>> admin", CS_PRIVACY_LOW},
    {"command", "docker login -u ci -p <<PASSWORD|Regenschirm7>> registry.acme.test",
     CS_PRIVACY_LOW},
    {"command",
     "docker login registry.acme.test --username ci --password <<PASSWORD|Regenschirm7>>",
     CS_PRIVACY_LOW},
    {"command", "wget --user=ci --password='<<PASSWORD|Regen$chirm7>>' https://files.acme.test/x",
     CS_PRIVACY_LOW},
    {"command",
     "kubectl create secret generic db --from-literal=password=<<PASSWORD|Regenschirm7>>",
     CS_PRIVACY_LOW},
    {"command", "vault kv put secret/db password=<<PASSWORD|Regenschirm7>>", CS_PRIVACY_LOW},
    {"connection",
     "url = <<CONNECTION_STRING|postgres://app:zebra-Streifen@db.acme.test:5432/shop>>",
     CS_PRIVACY_LOW},
    {"connection",
     "error: could not connect to "
     "<<CONNECTION_STRING|mongodb+srv://svc:p@ss/w0rd@cluster0.acme.test/crm?retryWrites=true>>: "
     "timeout",
     CS_PRIVACY_LOW},
    {"connection", "broker_url: \"<<CONNECTION_STRING|amqp://guest:kaninchen@rabbit:5672//>>\"",
     CS_PRIVACY_LOW},
    {"connection", "REDIS_URL=<<CONNECTION_STRING|redis://:Mond_licht@cache:6379/0>>",
     CS_PRIVACY_LOW},
    {"connection",
     "RuntimeError: connect failed: "
     "dsn=<<CONNECTION_STRING|postgresql+psycopg2://app:Regenschirm7@db/shop>>",
     CS_PRIVACY_LOW},
    {"connection",
     "DATABASE_URL=\"<<CONNECTION_STRING|mysql2://shop:Gr%40nit77@mysql.internal/"
     "shop?reconnect=true>>\"",
     CS_PRIVACY_LOW},
    {"connection",
     "celery broker <<CONNECTION_STRING|amqps://svc:b4umstamm@mq.acme.test:5671/vhost>> lost",
     CS_PRIVACY_LOW},
    {"url",
     "jdbc:sqlserver://"
     "sql.acme.test:1433;databaseName=crm;user=svc;password=<<PASSWORD|Wint3rZeit>>;",
     CS_PRIVACY_LOW},
    {"url",
     "Endpoint=sb://acme.servicebus.test/"
     ";SharedAccessKeyName=Root;SharedAccessKey=<<API_KEY|"
     "q8Wm3Zr5Tk7Yb1Xc9Vd2Fg4Hj6Ln0PsAeRuIoKtMyE=>>",
     CS_PRIVACY_LOW},
    {"url", "git clone https://deploy:<<PASSWORD|sch0koladE>>@git.acme.test/shop.git",
     CS_PRIVACY_LOW},
    {"url",
     "remote.origin.url=https://oauth2:<<API_KEY|gl"
     "pat-XbY3kQ7mZr5TwV9cLd2F>>@gitlab.acme.test/shop.git",
     CS_PRIVACY_LOW},
    {"url", "https://api.acme.test/v1/items?api_key=<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>&page=2",
     CS_PRIVACY_LOW},
    {"url",
     "https://acme.blob.core.test/c/"
     "f.txt?sv=2022-11-02&sr=b&sig=<<API_KEY|Wm3Zr5Tk7Yb1Xc9Vd2Fg4Hj6Ln0PsAeRuIoKtMyE%3D>>&se=2024-"
     "01-01",
     CS_PRIVACY_LOW},
    {"url",
     "post to <<API_KEY|https://hooks.sl"
     "ack.com/services/T0Q7XKMZR/B5TWV9CLD/kQ7mZr5TwV9cLd2FXbY3aB8e>> now",
     CS_PRIVACY_LOW},
    {"url",
     "<<API_KEY|https://discord.com/api/webh"
     "ooks/471147114711471147/"
     "kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsAeRuIoKtMyEkQ7mZr5TwV9cLd2FXbY3aB8eHj6L>>",
     CS_PRIVACY_LOW},
    {"url",
     "<<API_KEY|https://api.telegram.org/bot471147114:AA"
     "kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsA>>/getMe",
     CS_PRIVACY_LOW},
    {"url",
     "ftp://files.acme.test/pub and sftp://deploy:<<PASSWORD|St3in.bruch>>@files.acme.test/in",
     CS_PRIVACY_LOW},
    {"url",
     "https://x-access-token:<<API_KEY|gh"
     "s_Zr5TwV9cLd2FXbY3aB8eHj6Ln0PsAeRuIoKt>>@github.com/acme/shop.git",
     CS_PRIVACY_LOW},
    {"url", "https://<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>@git.acme.test/shop.git", CS_PRIVACY_LOW},
    {"url", "smtp://mailer:<<PASSWORD|Feder#leicht9>>@smtp.acme.test:587", CS_PRIVACY_LOW},
    {"url",
     "okta: {orgUrl: \"https://acme.okta.test\", apiToken: "
     "\"<<API_KEY|00kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsAeRuIoKtM>>\"}",
     CS_PRIVACY_LOW},
    {"header", "Authorization: Basic <<PASSWORD|c3ZjOmJsYXVlcldhbDk=>>", CS_PRIVACY_LOW},
    {"header", "-H \"Authorization: Bearer <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>\"", CS_PRIVACY_LOW},
    {"header", "X-Api-Key: <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>", CS_PRIVACY_LOW},
    {"header",
     "{\"level\":\"info\",\"msg\":\"request\",\"headers\":{\"Authorization\":\"Bearer "
     "<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>\",\"X-Api-Key\":\"<<API_KEY|aB8ekQ7mZr5TwV9cLd2FXbY3>>"
     "\"}}",
     CS_PRIVACY_LOW},
    {"header",
     "axios.defaults.headers.common['Authorization'] = 'Bearer "
     "<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>';",
     CS_PRIVACY_LOW},
    {"cookie", "Cookie: sid=<<SECRET|kQ7mZr5TwV9cLd2FXbY3aB8e>>; theme=dark", CS_PRIVACY_LOW},
    {"cookie",
     "Set-Cookie: session=<<SECRET|kQ7mZr5TwV9cLd2FXbY3aB8e>>; Path=/; HttpOnly; SameSite=Lax",
     CS_PRIVACY_LOW},
    {"keyed", "//registry.acme.test/:_authToken=<<API_KEY|8fA2kLmQ9xZr4TyUvB1nC7dE>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=<<API_KEY|Zm9yZXN0L3Jpdm+"
     "lci9vY2Vhbi9tb3VudGFpbi9kZXNlcnQvdmFsbGV5L2lzbGFuZC9jYW55b24vZ2xhY2llcjEyMz==>>;"
     "EndpointSuffix=core.windows.net",
     CS_PRIVACY_LOW},
    {"keyed", "GET /v1/items?access_token=<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>&limit=20",
     CS_PRIVACY_LOW},
    {"keyed", "os.environ[\"OPENAI_API_KEY\"] = \"<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>\"",
     CS_PRIVACY_LOW},
    {"keyed", "client = Client(api_key=\"<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>\", timeout=3)",
     CS_PRIVACY_LOW},
    {"keyed", "const SECRET = '<<API_KEY|9f8e7d6c5b4a39281706f5e4d3c2b1a0>>';", CS_PRIVACY_LOW},
    {"keyed", "datadog.api.key: <<API_KEY|9f8e7d6c5b4a39281706f5e4d3c2b1a0>>", CS_PRIVACY_LOW},
    {"keyed", "ALGOLIA_ADMIN_KEY=<<API_KEY|9f8e7d6c5b4a39281706f5e4d3c2b1a0>>", CS_PRIVACY_LOW},
    {"keyed", "heroku_api_key = \"<<API_KEY|3f2a9c8b-7d6e-4f4a-9b1c-0d2e3f4a5b6c>>\"",
     CS_PRIVACY_LOW},
    {"keyed", "  \"token\": \"<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>\",", CS_PRIVACY_LOW},
    {"keyed",
     "[default]\n"
     "aws_access_key_id = <<API_KEY|AK"
     "IAQ7XK3MZR5TWV9CLD>>\n"
     "aws_secret_access_key = <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e+Hj6Ln0PsAeRuIoK>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "creds <<API_KEY|AK"
     "IAQ7XK3MZR5TWV9CLD>> / <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e+Hj6Ln0PsAeRuIoK>>",
     CS_PRIVACY_LOW},
    {"keyed", "here is the token: <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>", CS_PRIVACY_LOW},
    {"keyed", "my api key is <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>, thanks", CS_PRIVACY_LOW},
    {"keyed",
     "env:\n"
     "  SLACK_TOKEN: ${{ secrets.SLACK_TOKEN }}\n"
     "  NPM_TOKEN: <<API_KEY|np"
     "m_kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsAeRu>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "{\"auths\":{\"registry.acme.test\":{\"auth\":\"<<API_KEY|Y2k6UmVnZW5zY2hpcm03>>\"}}}",
     CS_PRIVACY_LOW},
    {"keyed",
     "[Interface]\n"
     "PrivateKey = <<API_KEY|qN8Wm3Zr5Tk7Yb1Xc9Vd2Fg4Hj6Ln0PsAeRuIoKtMyE=>>\n"
     "Address = none",
     CS_PRIVACY_LOW},
    {"keyed",
     "encryption_key: <<API_KEY|9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "rails secret_key_base: "
     "<<API_KEY|9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0>>",
     CS_PRIVACY_LOW},
    {"keyed", "JWT_SECRET=<<API_KEY|superlanges-Geheimnis-2024-xyz>>", CS_PRIVACY_LOW},
    {"keyed",
     "webhook_secret: <<API_KEY|wh"
     "sec_kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0Ps>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "client_id: 3f2a9c8b7d6e5f4a\n"
     "client_secret: <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0Ps>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "bot <<API_KEY|471147114:AA"
     "kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsA>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "mailchimp <<API_KEY|9f8e7d6c5b4a39281706f5e4d3c2b1a0-"
     "us14>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "terraform <<API_KEY|kQ7mZr5TwV9cLd.atl"
     "asv1.2FXbY3aB8eHj6Ln0PsAeRuIoKtMyEkQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0P>>",
     CS_PRIVACY_LOW},
    {"keyed", "export SNYK_TOKEN=<<API_KEY|3f2a9c8b-7d6e-4f4a-9b1c-0d2e3f4a5b6c>>", CS_PRIVACY_LOW},
    {"keyed",
     "TELEGRAM_TOKEN=<<API_KEY|471147114:AA"
     "kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsA>>",
     CS_PRIVACY_LOW},
    {"keyed", "twilio_auth_token: <<API_KEY|9f8e7d6c5b4a39281706f5e4d3c2b1a0>>", CS_PRIVACY_LOW},
    {"keyed",
     "\"aws\": {\"accessKeyId\": \"<<API_KEY|AK"
     "IAQ7XK3MZR5TWV9CLD>>\", \"secretAccessKey\": "
     "\"<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e+Hj6Ln0PsAeRuIoK>>\", \"region\": \"eu-west-1\"}",
     CS_PRIVACY_LOW},
    {"keyed", "FASTLY_API_TOKEN=<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0Ps>>", CS_PRIVACY_LOW},
    {"keyed",
     "azure:\n"
     "  clientId: 3f2a9c8b-7d6e-4f4a-9b1c-0d2e3f4a5b6c\n"
     "  clientSecret: <<API_KEY|kQ78Q~mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsAeRuIo>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "consumer_key=<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e1>>\n"
     "consumer_secret=<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8eHj6Ln0PsAeRuIoKtMyE12345kQ>>",
     CS_PRIVACY_LOW},
    {"keyed",
     "headers = {\"X-Auth-Token\": \"<<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>\", \"Accept\": "
     "\"application/json\"}",
     CS_PRIVACY_LOW},
    {"keyed", "pls rotate this key asap: <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>", CS_PRIVACY_LOW},
    {"keyed", "the new key is <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>> ok?", CS_PRIVACY_LOW},
    {"keyed", "token for ci: <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>", CS_PRIVACY_LOW},
    {"keyed", "here's the secret for prod: <<API_KEY|kQ7mZr5TwV9cLd2FXbY3aB8e>>", CS_PRIVACY_LOW},
    {"jwt",
     "token: <<JWT|eyJh"
     "bGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI0NzExIiwicm9sZSI6InRlc3QifQ."
     "c2lnbmF0dXJlLXRoYXQtaXMtbm9uZQ>>",
     CS_PRIVACY_LOW},
    {"jwt",
     "alg none: <<JWT|eyJh"
     "bGciOiJub25lIn0.eyJzdWIiOiI0NzExIiwicm9sZSI6InRlc3QifQ.>>",
     CS_PRIVACY_LOW},
    {"private-key",
     "client-key-data: <<PRIVATE_KEY|LS0tLS"
     "1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFb3dJQkFBS0NBUUVBejhuYVhkUXFWc1R5Q2hOaDY3ZmRmSGprbG1"
     "ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OQ==>>",
     CS_PRIVACY_LOW},
    {"private-key",
     "key:\n"
     "<<PRIVATE_KEY|-----BEG"
     "IN RSA PRIVATE KEY-----\n"
     "MIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\n"
     "KUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQ==\n"
     "-----END RSA PRIVATE KEY----->>",
     CS_PRIVACY_LOW},
    {"private-key",
     "<<PRIVATE_KEY|-----BEG"
     "IN PRIVATE "
     "KEY-----"
     "\\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\\nKUpRKfFLfRYC9AIKjbJTWit"
     "+CqvjWYzvQwECAwEAAQ==\\n-----END PRIVATE KEY----->>\\n",
     CS_PRIVACY_LOW},
    {"private-key",
     "String k = \"<<PRIVATE_KEY|-----BEG"
     "IN EC PRIVATE KEY-----\" +\n"
     "    \"MHcCAQEEIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeK\" +\n"
     "    \"KUpRKfFLfRYC9AIKjbJTWitCqvjWYzvQwECAwEAAQ==\" +\n"
     "    \"-----END EC PRIVATE KEY----->>\";",
     CS_PRIVACY_LOW},
    {"private-key",
     "<<PRIVATE_KEY|-----BEG"
     "IN PGP PRIVATE KEY BLOCK-----\n"
     "Version: GnuPG v2\n"
     "\n"
     "lQOYBFyFh8EBCADKjbJTWitCqvjWYzvQwECAwEAAQMIIBOgIBAAJBAKj34GkxFhD\n"
     "90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit\n"
     "=abcd\n"
     "-----END PGP PRIVATE KEY BLOCK----->>",
     CS_PRIVACY_LOW},
    {"private-key",
     "cut off: <<PRIVATE_KEY|-----BEG"
     "IN RSA PRIVATE KEY-----\n"
     "MIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\n"
     "KUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQMIIBOgIBAAJBAKj34GkxFh\n"
     "D90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWi>>",
     CS_PRIVACY_LOW},
    {"private-key",
     "der <<PRIVATE_KEY|MIIB"
     "VAIBADANBgkqhkiG9w0BAQEFAASCAT4wggE6AgEAAkEAqPfgaTEWEP3S9w0tgsicUR>> end",
     CS_PRIVACY_LOW},
    {"private-key",
     "Private-Lines: 2\n"
     "<<PRIVATE_KEY|AAAAgQDKjbJTWitCqvjWYzvQwECAwEAAQMIIBOgIBAAJBAKj34GkxFhD90vcNLYL\n"
     "InFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit>>\n"
     "Private-MAC: 0123",
     CS_PRIVACY_LOW},
    {"none",
     " \"password\": \"${DB_PASSWORD}\", \"token\": \"{{ vault_token }}\", \"secret\": "
     "\"<secret>\"",
     CS_PRIVACY_LOW},
    {"none", "password: string; token?: string; apiKey: String!", CS_PRIVACY_LOW},
    {"none",
     "if (password == null || password.length < 8) throw new Error(\"password too short\");",
     CS_PRIVACY_LOW},
    {"none", "const password = req.body.password; const token = getToken(user);", CS_PRIVACY_LOW},
    {"none", "password = os.environ.get(\"DB_PASSWORD\")", CS_PRIVACY_LOW},
    {"none", "password: process.env.DB_PASSWORD", CS_PRIVACY_LOW},
    {"none",
     "Your password must contain at least 12 characters. Password reset is available. The password "
     "was changed.",
     CS_PRIVACY_LOW},
    {"none", "<input type=\"password\" name=\"password\" id=\"password\" placeholder=\"Password\">",
     CS_PRIVACY_LOW},
    {"none", "Forgot password? Click here. Password: required. Passwords must match.",
     CS_PRIVACY_LOW},
    {"none", "\"password\": {\"type\": \"string\", \"minLength\": 8}", CS_PRIVACY_LOW},
    {"none",
     "{\"password\": \"string\", \"api_key\": \"your-api-key-here\", \"token\": "
     "\"xxxxxxxxxxxxxxxx\"}",
     CS_PRIVACY_LOW},
    {"none", "password=***** token=REDACTED secret=changeme", CS_PRIVACY_LOW},
    {"none",
     "etag: \"9f8e7d6c5b4a39281706f5e4d3c2b1a0\" commit 9f8e7d6c5b4a39281706f5e4d3c2b1a0aabbccdd",
     CS_PRIVACY_LOW},
    {"none",
     "next_token: eyJvZmZzZXQiOjEwMH0 nextPageToken: CAUQAA max_tokens: 4096 token_count=128",
     CS_PRIVACY_LOW},
    {"none",
     "\"integrity\": "
     "\"sha512-GPzEyoL8EsaJd/wyXxQPplH8ACyjkz4jmBQlm7knI4pShZFC8ZrXbeg/fT3pG+h8msMl"
     "c+T1ah9sdbEl7oX8nr==\"",
     CS_PRIVACY_LOW},
    {"none",
     "public_key: "
     "\"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gu"
     "n\"",
     CS_PRIVACY_LOW},
    {"none", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 user@host", CS_PRIVACY_LOW},
    {"none", "pk_live_51HdCE3ehUtgCQfQqDbZpsFd is publishable", CS_PRIVACY_LOW},
    {"none",
     "cache_key=user:4711:profile partition_key=\"customer-9f8e7d6c\" idempotency_key: "
     "3f2a9c8b-7d6e-4f4a-9b1c-0d2e3f4a5b6c",
     CS_PRIVACY_LOW},
    {"none", "Compare the tokens; the token expires in 3600 seconds; token type is Bearer",
     CS_PRIVACY_LOW},
    {"none", "https://example.com/reset?token={token}&user=7 http://localhost:8080/@fs/path",
     CS_PRIVACY_LOW},
    {"none", "key: value, key=foo-bar-baz, primary key: id, keys: [a, b]", CS_PRIVACY_LOW},
    {"none",
     "The API key is missing. Set API_KEY=your_key_here. Use Authorization: Bearer <token>.",
     CS_PRIVACY_LOW},
    {"none", "for token in tokens: print(token.text, token.pos_)", CS_PRIVACY_LOW},
    {"none", "pass: 12, fail: 3, skip: 0; Pass rate: 98%; pass = true", CS_PRIVACY_LOW},
    {"none", "secretName: app-tls, secretKeyRef: {name: db, key: password}", CS_PRIVACY_LOW},
    {"none",
     "\"session_id\": \"3f2a9c8b-7d6e-4f4a-9b1c-0d2e3f4a5b6c\", \"request_id\": "
     "\"9f8e7d6c5b4a3928\"",
     CS_PRIVACY_LOW},
    {"none",
     "author: none, authority: none, keyboard: us, tokenizer: bpe, passenger: 2, compass: north",
     CS_PRIVACY_LOW},
    {"none", "cookie: consent=true; theme=dark", CS_PRIVACY_LOW},
    {"none",
     "{\"key\": \"PROJ-1234\", \"id\": \"10042\", \"self\": "
     "\"https://jira.acme.test/rest/api/2/issue/10042\"}",
     CS_PRIVACY_LOW},
    {"none",
     "{\"Key\": \"uploads/2024/05/3f2a9c8b7d6e5f4a.png\", \"ETag\": "
     "\"9f8e7d6c5b4a39281706f5e4d3c2b1a0\"}",
     CS_PRIVACY_LOW},
    {"none",
     "docker pull "
     "registry.acme.test/"
     "app@sha256:9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0",
     CS_PRIVACY_LOW},
    {"none", "mysql -p -u root shop; docker run -p 8080:80 nginx; psql -p 5432", CS_PRIVACY_LOW},
    {"none", "{\"error\":\"Access denied for user 'app'@'box' (using password: YES)\"}",
     CS_PRIVACY_LOW},
    {"none",
     "PRIVATE_KEY=\"-----BEG"
     "IN PRIVATE KEY-----\\nMIIEvQ...\\n-----END PRIVATE KEY-----\"",
     CS_PRIVACY_LOW},
    {"none",
     "  \"description\": \"The password of the user\", \"title\": \"Password\", \"placeholder\": "
     "\"Enter password\"",
     CS_PRIVACY_LOW},
    {"none", "ERROR: password authentication failed for user \"app\"", CS_PRIVACY_LOW},
    {"none", "sudo: a password is required", CS_PRIVACY_LOW},
    {"none", "Enter passphrase for key '/home/svc/.ssh/id_ed25519':", CS_PRIVACY_LOW},
    {"none",
     "token = tokenizer.next(); key = keys[0]; secret = load_secret(path); pwd = os.getcwd()",
     CS_PRIVACY_LOW},
    {"none", "PWD=/home/svc OLDPWD=/tmp SSH_AUTH_SOCK=/tmp/ssh-abc123/agent.42", CS_PRIVACY_LOW},
    {"none",
     "\"access_token_expires_in\": 3600, \"token_endpoint\": "
     "\"https://id.acme.test/oauth2/token\", \"tokens_used\": 512",
     CS_PRIVACY_LOW},
    {"none", "password_hash, password_salt, password_changed_at: 2024-05-01T12:00:00Z",
     CS_PRIVACY_LOW},
    {"none", "passwordless login, password-protected, pass-through, keyless entry", CS_PRIVACY_LOW},
    {"none", "auth: none, auth=basic, auth_method: token, credentials: include", CS_PRIVACY_LOW},
    {"none", "key1=value1&key2=value2; sort_key=created_at; api_key_id=AKID-42; KeyName=main",
     CS_PRIVACY_LOW},
    {"none",
     "\"dependencies\": {\"jsonwebtoken\": \"^9.0.2\", \"passport\": \"0.7.0\", \"password-hash\": "
     "\"1.2.2\"}",
     CS_PRIVACY_LOW},
    {"none", "The secret is to keep going. The key is patience. A token of appreciation: thanks!",
     CS_PRIVACY_LOW},
    {"none", "Secret: Santa list, Token: ring, Pass: boarding", CS_PRIVACY_LOW},
    {"none", "secret: true, secrets: inherit, token: ${{ github.token }}", CS_PRIVACY_LOW},
    {"none",
     "password: !vault |\n"
     "          $ANSIBLE_VAULT;1.1;AES256",
     CS_PRIVACY_LOW},
    {"none", "{\"type\":\"password\",\"name\":\"pw\",\"label\":\"Password\",\"required\":true}",
     CS_PRIVACY_LOW},
    {"none",
     "see eyJh"
     "bGciOiJIUzI1NiJ9 and eyJvZmZzZXQiOjEwMH0.x",
     CS_PRIVACY_LOW},
    {"none",
     "-----BEGIN CERTIFICATE-----\n"
     "MIICWjCCAcMCAgGlMA0GCSqGSIb3DQEBBAUAMHUxCzAJBgNVBAYTAlhZMRgwFgYD\n"
     "-----END CERTIFICATE-----",
     CS_PRIVACY_LOW},
    {"none",
     "-----BEGIN PUBLIC KEY-----\n"
     "MIICWjCCAcMCAgGlMA0GCSqGSIb3DQEBBAUAMHUxCzAJBgNVBAYTAlhZMRgwFgYD\n"
     "-----END PUBLIC KEY-----",
     CS_PRIVACY_LOW},
    {"none",
     "-----BEG"
     "IN PRIVATE KEY-----\n"
     "...\n"
     "-----END PRIVATE KEY-----",
     CS_PRIVACY_LOW},
    {"none",
     "-----BEG"
     "IN PRIVATE KEY-----\n"
     "-----BEG"
     "IN PRIVATE KEY-----",
     CS_PRIVACY_LOW},
    {"none",
     "see https://hooks.sl"
     "ack.com/services/ in the docs",
     CS_PRIVACY_LOW},
    {"none",
     "AKIAIOSFODNN7EXAMPLE and ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and sk_live_... are "
     "samples",
     CS_PRIVACY_LOW},
    {"none",
     "hf_short, gl"
     "pat-abc, dapi1234, sk-learn, sk-proj-, np"
     "m_config_registry, xoxb-, key-value, live_stream",
     CS_PRIVACY_LOW},
    {"none",
     "sha256:9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0 "
     "3f2a9c8b-7d6e-4f4a-9b1c-0d2e3f4a5b6c v1.2.3-rc.4+build.5",
     CS_PRIVACY_LOW},
    {"none", "db_password = var.db_password", CS_PRIVACY_LOW},
    {"none", "password = data.aws_secretsmanager_secret_version.db.secret_string", CS_PRIVACY_LOW},
    {"none", "password: {{ .Values.db.password | quote }}", CS_PRIVACY_LOW},
    {"none", "- password: \"{{ lookup('env', 'DB_PASSWORD') }}\"", CS_PRIVACY_LOW},
    {"none",
     "password rules: at least 8 chars. Password sha256 and bcrypt12. key features: fast. The key "
     "is simple. password base64",
     CS_PRIVACY_LOW},
    {"none", "Key findings: revenue 2024Q3up. The primary key is user_id2024.", CS_PRIVACY_LOW},
    {"random", "key <<SECRET|kQ7mZr5TwV9cLd2FXbY3aB8e>> here", CS_PRIVACY_HIGH},
    {"random", "9f8e7d6c5b4a39281706f5e4d3c2b1a0 and 3f2a9c8b-7d6e-4f4a-9b1c-0d2e3f4a5b6c",
     CS_PRIVACY_HIGH},
    {"random", "some-long-name-of-a-branch-2024 and src/privacy/find_opaque.c", CS_PRIVACY_HIGH},
    {"random", "key kQ7mZr5TwV9cLd2FXbY3aB8e here", CS_PRIVACY_MEDIUM},
    {"jwt",
     "https://shop.test/in/<<JWT|eyJh"
     "bGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.c2lnbmF0dXJlLXRoYXQ>>/next",
     CS_PRIVACY_LOW},
    {"none", "<secret>\"Bearer \"auth=(user, none)", CS_PRIVACY_LOW},
    {"base64",
     "  app.ini: <<SECRET|dXNlcjogc3ZjCnBhc3N3b3JkOiBPZmVucm9ocjkK>>\n  motd: "
     "d2VsY29tZSB0byB0aGUgYm94IQo=",
     CS_PRIVACY_MEDIUM},
    {0},
};
