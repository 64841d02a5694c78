#!/bin/sh
# Makes what the containers of docker/compose.yaml prove themselves with: passwords that are not there yet, and
# certificates that are not there, do not belong to their key, or were made more than 65 days ago. Each folder is a volume
# that only those containers see which need it: secrets for the service, secrets_neo4j, secrets_postgres, and
# secrets_authority for this script.
#     sh docker/secrets.sh [TOP]        TOP has these folders; if not given, it is /
set -eu
umask 077
cd "${1:-/}"

# How long certificates are good, and how long they must still be good when this script ends, in days.
days=365 least=300
authority=secrets_authority work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Of a run that was killed.
rm -f secrets*/*.new secrets*/*/*.new

cat > "$work/settings" <<END
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
authorityKeyIdentifier = keyid
subjectAltName = DNS:\$ENV::NAME
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
authorityKeyIdentifier = keyid
END

# put FILE: standard input takes the place of the file as a whole.
put() {
    cat > "$1.new"
    mv "$1.new" "$1"
}

# draw FILE: a password, unless the file has one.
draw() {
    test -s "$1" && return
    password=$(openssl rand -hex 24)
    test -n "$password" || { echo "secrets.sh: openssl drew no password for $1" >&2; exit 1; }
    echo "$password" | put "$1"
}

# is_good KEY CERTIFICATE DAYS: they belong together, our authority signed the certificate, and it will still be good
# after so many days.
is_good() {
    openssl verify -CAfile "$authority/ca.crt" "$2" && openssl x509 -noout -checkend $(($3 * 86400)) -in "$2" &&
        test "$(openssl x509 -noout -pubkey -in "$2")" = "$(openssl pkey -pubout -passin pass: -in "$1")"
} > "$work/said" 2>&1

# make SORT NAME KEY CERTIFICATE OPTIONS…: a key, and a certificate of that sort for that name.
make() {
    sort=$1 key=$3 certificate=$4
    export NAME="$2"
    shift 4
    openssl req -x509 -new -config "$work/settings" -extensions "$sort" -subj "/CN=$NAME" -sha256 -noenc \
        -newkey ec -pkeyopt ec_paramgen_curve:P-256 -keyout "$key.new" -out "$certificate.new" "$@" 2> "$work/said" ||
        { cat "$work/said" >&2; exit 1; }
    mv "$key.new" "$key"
    mv "$certificate.new" "$certificate"
}

# certify SORT NAME KEY CERTIFICATE
certify() {
    is_good "$3" "$4" "$least" ||
        make "$@" -days "$days" -CA "$authority/ca.crt" -CAkey "$authority/ca.key"
}

draw secrets/neo4j
draw secrets_postgres/password
printf 'neo4j/%s' "$(cat secrets/neo4j)" | put secrets_neo4j/auth

is_good "$authority/ca.key" "$authority/ca.crt" $((2 * days)) ||
    make authority 'graphpriv: our own authority' "$authority/ca.key" "$authority/ca.crt" -days $((10 * days))
mkdir -p secrets_neo4j/trusted secrets_neo4j/revoked
for place in secrets secrets_neo4j/trusted secrets_postgres; do
    put "$place/ca.crt" < "$authority/ca.crt"
done
certify client graphpriv secrets/graphpriv.key secrets/graphpriv.crt
certify server neo4j secrets_neo4j/private.key secrets_neo4j/public.crt
certify server postgres secrets_postgres/private.key secrets_postgres/public.crt

# The databases run as users of their own, and see their own volume alone.
chmod -R u=rwX,go=rX secrets_neo4j secrets_postgres
# Of an earlier version, which had one volume for everybody.
rm -f secrets/postgres secrets/neo4j_auth
chmod 600 secrets/neo4j
