// The configuration of the command `aggregator-gateway`.

import type { JwtAuthenticationOptions } from '../jwt/jwt-options.ts'
import type { Authenticator } from '../options/authentication.ts'
import type { CallOptions } from '../options/call-options.ts'
import type { CreateAggregatorGatewayOptions } from '../options/gateway-options.ts'

/** A configuration file: the options of {@link createAggregatorGateway}, and those of the command. */
export interface GatewayConfig<
  Endpoints extends readonly unknown[] = readonly Record<string, CallOptions>[],
> extends Omit<CreateAggregatorGatewayOptions<Endpoints>, 'authentication'> {
  /** Path or URL of the JSON Schema, for editors. @default none */
  $schema?: string
  /** Port to listen on. Digits in a text are a port, too. @default 3000 */
  port?: number | string
  /** Host to listen on. @default 'localhost' */
  host?: string
  /** Maximum time for running requests after a stop signal, in milliseconds. @default 10000 */
  stopTimeout?: number
  /** Options of `jwtAuthentication()`, or, in a module, what verifies clients. @default none */
  authentication?: JwtAuthenticationOptions | Authenticator
}

/**
 * Returns the configuration unchanged, with types for your editor.
 *
 * @example
 * export default defineConfig({ upstreams: { users: 'http://users:3000' }, endpoints: [] })
 */
export function defineConfig<const Endpoints extends readonly unknown[]>(
  config: GatewayConfig<Endpoints>,
): GatewayConfig<Endpoints> {
  return config
}
