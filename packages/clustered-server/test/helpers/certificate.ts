import { execFileSync } from 'node:child_process'
import { requireProgram } from '@test/required-program'

const command = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost'

/** Whether there is openssl, which makes certificates. */
export const canCertify: boolean = requireProgram('openssl', 'openssl')

/** A key and a certificate that nobody trusts, for the environment of workers. */
export function certificate(): { TLS_KEY: string; TLS_CERTIFICATE: string } {
  const both = execFileSync('openssl', [...command.split(' '), '-keyout', '-', '-out', '-'], { stdio: 'pipe' })
  const [key, text] = String(both).match(/-----BEGIN[^]+?-----END[^\n]+\n/g) as [string, string]
  return { TLS_KEY: key, TLS_CERTIFICATE: text }
}
