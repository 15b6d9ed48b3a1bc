/**
 * The Content-Security-Policy of the page that works on one machine. The page may load from and connect to only its own folder, `place`, so
 * that nothing it reads can leave the machine.
 */
export function writeContentSecurityPolicy(place: string): string {
  return [
    "default-src 'none'",
    // The grammars are compiled WebAssembly; no JavaScript is evaluated.
    `script-src ${place} 'wasm-unsafe-eval'`,
    `worker-src ${place}`,
    `style-src ${place}`,
    `img-src ${place} blob:`,
    `connect-src ${place}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The only IP address that a policy may name. */
const LOOPBACK_ADDRESS = '127.0.0.1'
const HOST_NAME = /^(?!.*\.\d+$)[a-z\d-]+(?:\.[a-z\d-]+)*$/

/**
 * The name of a folder in a policy: `https://host/folder/`. Policies cannot name IP addresses (CSP 3, 6.7.2.8), so a folder at one is
 * covered by its origin.
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
