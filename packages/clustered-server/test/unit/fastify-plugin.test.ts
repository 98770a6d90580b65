import { runInThisContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type AnyFunction, isFastifyPlugin, isMarkedPlugin } from '../../src/app/plugin-detection.ts'

/** Without what TypeScript or vite would make of it. */
const made = (source: string): AnyFunction => runInThisContext(`(${source})`) as AnyFunction

describe('a plugin of Fastify', () => {
  it.each([
    'async function (fastify, opts) {}',
    'async function app(fastify, opts) {}',
    'async function routes (fastify, _opts) {}',
    'function (fastify, opts, next) { next() }',
    'async (fastify) => {}',
    'async fastify => {}',
    'fastify=>{}',
    'async (app, { prefix }) => {}',
    'async (instance, options = {}) => {}',
    'async ({ log, get }, opts) => {}',
    'async function (/** @type {import("fastify").FastifyInstance} (the app) */ fastify, opts) {}',
    `async function ( // the app: req
      fastify,
      opts) {}`,
    '{ async app(fastify, opts) {} }.app',
  ])('%s', (source) => {
    expect(isFastifyPlugin(made(source))).toBe(true)
  })

  it.each(['skip-override', 'fastify.display-name', 'plugin-meta'])('has the symbol %s', (name) => {
    const plugin = Object.assign(made('async (a, b) => {}'), { [Symbol.for(name)]: true })
    expect([isMarkedPlugin(plugin), isFastifyPlugin(plugin)]).toEqual([true, true])
  })
})

describe('a request listener', () => {
  it.each([
    'async (req, res) => {}',
    'async (request, response) => {}',
    'async function (request, reply) {}',
    'function (req, res, next) { app.handle(req, res, next) }',
    'async (_req, res) => {}',
    'async (_, res) => {}',
    'async req => {}',
    'async (app, res) => {}',
    'async (e, t) => {}',
    'async () => {}',
    '(...args) => {}',
    'function () {}.bind(null)',
    '((fastify, opts) => {}).bind(null)',
    'class { constructor(a, b) {} }',
  ])('%s', (source) => {
    expect(isFastifyPlugin(made(source))).toBe(false)
  })

  it('is recognized without a call', () => {
    let calls = 0
    const listener = async (_request: unknown, _response: unknown): Promise<void> => void calls++
    expect([isFastifyPlugin(listener), calls]).toEqual([false, 0])
  })
})
