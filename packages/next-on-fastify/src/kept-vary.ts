import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import vary from 'vary'

/**
 * Adds what hooks have said of `Vary` to what Next says, which sets it without a look at what is there. Without that, a
 * cache would give the answer for one origin to another one.
 */
export function keepVary(response: ServerResponse, fields: string): void {
  onHeaders(response, () => vary(response, fields))
}
