import { validateHeaderValue } from 'node:http'
import { describe, expect, it } from 'vitest'
import { tagFormat, writtenTags } from '../../../src/cdn/tag-header.ts'

const HEADERS = ['cache-tag', 'surrogate-key', 'xkey'] as const

describe('the tags of a response', () => {
  it.each([
    ['cache-tag', 'Cache-Tag', 'posts,_N_T_/blog/layout'],
    ['surrogate-key', 'Surrogate-Key', 'posts _N_T_/blog/layout'],
    ['xkey', 'xkey', 'posts _N_T_/blog/layout'],
  ] as const)('are written as %s has them', (header, name, value) => {
    const format = tagFormat(header)
    expect([format.name, format.valueOf(['posts', '_N_T_/blog/layout', 'posts'])]).toEqual([name, value])
  })

  it.each([
    ['a line', 'a\r\nSet-Cookie: x=1', ['a%0D%0ASet-Cookie:%20x=1']],
    ['a space', 'two words', ['two%20words']],
    ['a comma, at which Next splits them', 'one,two', ['one', 'two']],
    ['a quote', '"a"', ['%22a%22']],
    ['other letters', 'größe', ['gr%C3%B6%C3%9Fe']],
    ['half of a character', '\ud800', ['%EF%BF%BD']],
    ['nothing', '', []],
  ])('cannot end the header or the list by %s', (_, tag, expected) => {
    expect(writtenTags([tag])).toEqual(expected)
  })

  it('are plain for any text', () => {
    for (let code = 0; code < 0x1_00_00; code++) {
      const [written = ''] = writtenTags([`a${String.fromCharCode(code)}b`])
      expect(written).not.toMatch(/[\s,"]/)
      validateHeaderValue('xkey', written)
    }
  })

  it.each(HEADERS)('are none where %s has no space for all of them', (header) => {
    const tags = Array.from({ length: 200 }, (_, index) => `${'t'.repeat(100)}${index}`)
    expect(tagFormat(header).valueOf(tags)).toBeUndefined()
    expect(tagFormat(header).valueOf(tags.slice(0, 70))?.length).toBeLessThan(8000)
  })

  it.each(['cache-tag', 'surrogate-key'] as const)('are none where one is longer than %s allows', (header) => {
    expect(tagFormat(header).valueOf(['t'.repeat(1024)])).toHaveLength(1024)
    expect(tagFormat(header).valueOf(['t'.repeat(1025)])).toBeUndefined()
  })
})
