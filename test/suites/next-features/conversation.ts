// Requests to `next start` and to next-on-fastify, which serve the same build: the responses must be alike, and right.

import assert from 'node:assert/strict'
import { vi } from 'vitest'
import { compare, type Pair, titleOf } from '../../differential/differences.ts'
import { ask, type RawAnswer, type RawRequest } from '../../differential/raw-request.ts'

type Headers = Readonly<Record<string, string>>

/** A feature of Next, and requests that show whether it works. */
type FeatureCase = (servers: Conversation) => Promise<void>

/** Cases by title. */
export type FeatureCases = Readonly<Record<string, FeatureCase>>

/** The response of `next start`, which equals that of next-on-fastify. */
export class Reply {
  readonly status: number
  readonly text: string
  readonly #headers: RawAnswer['headers']

  constructor({ status, headers, body }: RawAnswer) {
    this.status = Number(status.split(' ')[1])
    this.text = body.toString()
    this.#headers = headers
  }

  /** All values of a header, or undefined. */
  header(name: string): string | undefined {
    const values = this.#headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
    return values.length === 0 ? undefined : values.join(', ')
  }

  /** Path that a redirect leads to. Before Next 16, middleware adds the address of the server. */
  get location(): string | undefined {
    return this.header('location')?.replace(/^http:\/\/(?:app\.example|localhost:\d+)/, '')
  }

  /** The text of the first heading. */
  get heading(): string | undefined {
    return /<h1[^>]*>(.*?)<\/h1>/s.exec(this.text)?.[1]?.replaceAll('<!-- -->', '')
  }
}

/** Sends each request to both servers. */
export class Conversation {
  readonly #pair: Pair

  constructor(pair: Pair) {
    this.#pair = pair
  }

  async send(request: RawRequest): Promise<Reply> {
    const { right, found } = await compare(this.#pair, request)
    assert.equal(found, undefined, `${titleOf(request)}\n${found}`)
    return new Reply(right)
  }

  get(target: string, headers: Headers = {}): Promise<Reply> {
    return this.send({ target, headers: Object.entries(headers) })
  }

  post(target: string, body = '', headers: Headers = {}): Promise<Reply> {
    return this.send({ method: 'POST', target, body, headers: Object.entries(headers) })
  }

  /** Data of a page, as Next's client requests it. Next redirects to the URL with a hash of the headers. */
  async navigate(target: string, headers: Headers = {}): Promise<Reply> {
    const all = { rsc: '1', ...headers }
    const reply = await this.get(target, all)
    const location = reply.status === 307 ? reply.header('location') : undefined
    return location?.includes('_rsc') ? this.get(location.replace(/^https?:\/\/[^/]+/, ''), all) : reply
  }

  /** Sends the form of a page as a browser without JavaScript does. */
  async submit(page: string, id: string, fields: Headers = {}, headers: Headers = {}): Promise<Reply> {
    const { text } = await this.get(page)
    const form = new RegExp(`<form id="${id}".*?</form>`, 's').exec(text)?.[0] ?? ''
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g)].map(
      ([, name, value = '']) => [name!, value.replaceAll('&quot;', '"').replaceAll('&amp;', '&')] as const,
    )
    assert(
      hidden.some(([name]) => name.includes('ACTION')),
      `${page} has no form "${id}" with an action`,
    )
    const parts = [...hidden, ...Object.entries(fields)].map(
      ([name, value]) => `--limit\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    return this.post(page, `${parts.join('')}--limit--\r\n`, {
      'content-type': 'multipart/form-data; boundary=limit',
      origin: 'http://app.example',
      ...headers,
    })
  }

  /** Checks that a part of a response arrives while the page waits for a request to `/release` before it sends the rest. */
  async getParts(target: string, part: string, rest: string): Promise<void> {
    const name = part.replaceAll(/\W/g, '')
    for (const origin of [this.#pair.reference, this.#pair.candidate]) {
      const { body } = await fetch(`${origin}${target}?held=${name}`)
      let read = ''
      for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
        const isFirst = !read.includes(part)
        read += chunk
        if (!isFirst || !read.includes(part)) continue
        assert(!read.includes(rest), `${target} came as a whole`)
        await fetch(`${origin}/release?name=${name}`, { method: 'POST' })
      }
      assert(read.includes(rest), `${target} has ended without ${rest}`)
    }
  }

  /** Waits until each server has the text. */
  async until(target: string, text: string): Promise<void> {
    for (const origin of [this.#pair.reference, this.#pair.candidate]) {
      const has = async (): Promise<boolean> => (await ask(origin, { target })).body.toString().includes(text)
      await vi.waitUntil(has, { timeout: 30_000, interval: 50 })
    }
  }
}
