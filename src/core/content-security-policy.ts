/**
 * The Content-Security-Policy of the page that works without a server. The page may load from and connect to only `source`, its own
 * folder, so that no file that it reads can leave the machine.
 */
export function writeContentSecurityPolicy(source: string): string {
  return [
    "default-src 'none'",
    // The grammars are compiled WebAssembly; no JavaScript is evaluated.
    `script-src ${source} 'wasm-unsafe-eval'`,
    `worker-src ${source}`,
    `style-src ${source}`,
    `img-src ${source} blob:`,
    `connect-src ${source}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The only IP address that a policy may name. */
const LOOPBACK_ADDRESS = '127.0.0.1'
const HOST_NAME = /^(?!.*\.\d+$)[a-z\d-]+(?:\.[a-z\d-]+)*$/

/**
 * The name of a folder in a policy: `https://host/folder/`. Policies cannot name an IP address other than 127.0.0.1 (CSP 3, 6.7.2.8),
 * so a folder at another one is covered by the origin of the page, `'self'`.
 */
export function writePolicySource(folder: string): string {
  if (!URL.canParse(folder)) return SELF
  const { protocol, hostname, host, pathname } = new URL(folder)
  if (hostname !== LOOPBACK_ADDRESS && !HOST_NAME.test(hostname)) return SELF
  // A semicolon would end the directive, and a comma the policy.
  return `${protocol}//${host}${pathname.replaceAll(';', '%3B').replaceAll(',', '%2C')}`
}

/** The origin of the page itself. */
const SELF = "'self'"
