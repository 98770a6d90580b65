import { checkOptions, list, object, observer, ObserverFaults } from '../../src/index.ts'
import { expect, it } from 'vitest'

interface Watcher {
  opened?(): void
  closed?(): void
}

const schema = object({
  observers: list(observer<Watcher>(['opened', 'closed'], { ended: 'closed' })),
  one: list(observer<Watcher>(['opened'])),
})
const check = (observers: unknown, one: unknown = []): unknown =>
  checkOptions(schema, { observers, one }, (message) => new Error(message))

class WithHelpers implements Watcher {
  count = 0
  opened(): void {
    this.add()
  }
  add(): void {
    this.count++
  }
}

it('takes objects with some of the methods, their own properties, and helpers of their class', () => {
  const observers = [{ opened: () => {} }, { closed: () => {}, opened: undefined, count: 1 }, new WithHelpers()]
  expect(check(observers)).toEqual({ observers, one: [] })
})

it.each([
  [[null], 'Invalid option "observers[0]": expected an object with any of opened, closed, got null.'],
  [[{}], 'Invalid option "observers[0]": expected an object with any of opened, closed, got an object.'],
  [[{ opened: 1 }], 'Invalid option "observers[0].opened": expected a function, got 1.'],
  [[{ opened: () => {}, close: () => {} }], 'Invalid option "observers[0].close": unknown. Did you mean "closed"?'],
  [[{ closed: () => {} }, { ended: () => {} }], 'Invalid option "observers[1].ended": renamed to "closed".'],
])('refuses observers %j', (observers, message) => {
  expect(() => check(observers)).toThrow(new Error(message))
})

it('names the only method', () => {
  expect(() => check([], [{}])).toThrow('expected an object with the function opened, got an object.')
})

it('logs the first error of each method of each observer, thrown or rejected', async () => {
  const lines: unknown[] = []
  const faults = new ObserverFaults({ error: (fields, message) => void lines.push([fields, message]) })
  const errors = ['a', 'b', 'c'].map((text) => new Error(text))
  faults.report(0, 'opened', errors[0])
  faults.report(0, 'opened', errors[1])
  faults.report(0, 'closed', errors[1])
  for (const returned of [undefined, 'value', Promise.resolve(), Promise.reject(errors[2]), Promise.reject(errors[2])])
    faults.watch(1, 'opened', returned)
  await new Promise(setImmediate)
  const text = 'observer threw; further errors of this method are not logged'
  expect(lines).toEqual([
    [{ err: errors[0], observer: 'observers[0].opened' }, text],
    [{ err: errors[1], observer: 'observers[0].closed' }, text],
    [{ err: errors[2], observer: 'observers[1].opened' }, text],
  ])
})
