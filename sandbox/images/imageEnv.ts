const caBundle = '/etc/ssl/certs/ca-certificates.crt'

/** What every built image sets for its programs. None of it is a package's own. */
export const imageEnv: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  HOME: '/tmp',
  SSL_CERT_FILE: caBundle,
  REQUESTS_CA_BUNDLE: caBundle,
  PIP_CERT: caBundle,
  NODE_EXTRA_CA_CERTS: caBundle,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUNBUFFERED: '1',
}
