import { describe, expect, it } from 'vitest'
import { heatsOf, shuffler, type Shuffle } from '../../../src/race/schedule.ts'

interface Process {
  readonly subject: string
  readonly number: number
}

const SUBJECTS = ['a', 'b', 'c']
const REPLICAS = 4
const CYCLES = 3000

const processesOf = (subject: string, count = REPLICAS): Process[] =>
  Array.from({ length: count }, (_, index) => ({ subject, number: index + 1 }))
const PROCESSES = SUBJECTS.map((subject) => processesOf(subject))

/** The heats of many cycles in a row, as a race with this seed goes through them. */
function cyclesOf(shuffle: Shuffle, cycles = CYCLES): Process[][][] {
  return Array.from({ length: cycles }, () => heatsOf(PROCESSES, shuffle))
}

/** Pearson's statistic for "all of these are equally likely". */
function chiSquare(seen: readonly string[], possible: readonly string[]): number {
  const expected = seen.length / possible.length
  const counts = new Map(possible.map((name) => [name, 0]))
  for (const name of seen) counts.set(name, counts.get(name)! + 1)
  return [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

/** Values that chance exceeds once in 10,000 times, by degrees of freedom. */
const CRITICAL = { 2: 18.42, 5: 25.74, 15: 44.26 }

const pairs = <A, B>(first: readonly A[], second: readonly B[]): [A, B][] =>
  first.flatMap((a) => second.map((b): [A, B] => [a, b]))
const subjectsOf = (processes: readonly Process[]): string[] => processes.map(({ subject }) => subject)
const ORDERS_OF_A_HEAT = ['a,b,c', 'a,c,b', 'b,a,c', 'b,c,a', 'c,a,b', 'c,b,a']

describe('the order of rounds', () => {
  it('is the same for the same seed', () => {
    expect(cyclesOf(shuffler(7), 50)).toEqual(cyclesOf(shuffler(7), 50))
  })

  it('differs for another seed, and in the next cycle', () => {
    const [first, second] = cyclesOf(shuffler(7), 2)
    expect(first).not.toEqual(second)
    expect(cyclesOf(shuffler(7), 50)).not.toEqual(cyclesOf(shuffler(8), 50))
  })

  it('does not change the given lists', () => {
    const processes = [Object.freeze(processesOf('a')), Object.freeze(processesOf('b'))]
    expect(heatsOf(processes, shuffler(1)).flat()).toHaveLength(2 * REPLICAS)
    expect(processes).toEqual([processesOf('a'), processesOf('b')])
  })
})

describe('a cycle', () => {
  const cycles = cyclesOf(shuffler(1), 200)

  it('has every process exactly once', () => {
    for (const heats of cycles) {
      const visited = heats.flat()
      expect(visited).toHaveLength(SUBJECTS.length * REPLICAS)
      expect(new Set(visited)).toEqual(new Set(PROCESSES.flat()))
    }
  })

  it('has every subject once in each heat', () => {
    for (const heat of cycles.flat()) expect(subjectsOf(heat).toSorted()).toEqual(SUBJECTS)
  })

  it('has every process once if one subject has fewer of them', () => {
    const order = heatsOf([processesOf('a', 2), processesOf('b', 3)], shuffler(1)).flat()
    expect(subjectsOf(order.slice(0, 4)).toSorted()).toEqual(['a', 'a', 'b', 'b'])
    expect(order.at(-1)!.subject).toBe('b')
    expect(new Set(order.map(({ subject, number }) => `${subject}${number}`))).toEqual(
      new Set(['a1', 'a2', 'b1', 'b2', 'b3']),
    )
  })
})

describe.each([1, 2, 3, 20_261_120])('over many cycles from seed %i', (seed) => {
  const cycles = cyclesOf(shuffler(seed))
  const heats = cycles.flat()

  it('every subject is equally often the first of its heat', () => {
    const firsts = heats.map((heat) => heat[0]!.subject)
    expect(chiSquare(firsts, SUBJECTS)).toBeLessThan(CRITICAL[2])
  })

  it('every order of a heat is equally frequent', () => {
    const orders = heats.map((heat) => subjectsOf(heat).join(','))
    expect(chiSquare(orders, ORDERS_OF_A_HEAT)).toBeLessThan(CRITICAL[5])
  })

  it('every subject comes equally often after each other subject', () => {
    // Across heats, a subject can follow itself. Those steps are left out.
    const steps = cycles.flatMap((cycle) => {
      const order = subjectsOf(cycle.flat())
      return order.slice(1).flatMap((next, index) => (next === order[index] ? [] : [`${order[index]}${next}`]))
    })
    const possible = pairs(SUBJECTS, SUBJECTS).flatMap(([from, to]) => (from === to ? [] : [from + to]))
    expect(chiSquare(steps, possible)).toBeLessThan(CRITICAL[5])
  })

  it('every process is equally often in each heat', () => {
    const numbers = processesOf('a').map(({ number }) => number)
    const seats = cycles.flatMap((cycle) =>
      cycle.map((heat, place) => `${heat.find(({ subject }) => subject === 'a')!.number}@${place}`),
    )
    const possible = pairs(numbers, [0, 1, 2, 3]).map(([number, place]) => `${number}@${place}`)
    expect(chiSquare(seats, possible)).toBeLessThan(CRITICAL[15])
  })

  it('every process shares its heat equally often with each process of another subject', () => {
    const together = heats.map((heat) =>
      ['a', 'b'].map((name) => heat.find(({ subject }) => subject === name)!.number).join('+'),
    )
    const numbers = processesOf('a').map(({ number }) => number)
    const possible = pairs(numbers, numbers).map((pair) => pair.join('+'))
    expect(chiSquare(together, possible)).toBeLessThan(CRITICAL[15])
  })
})

describe('the limit of chi-square', () => {
  /** The well-known wrong shuffle, which swaps with any place instead of the remaining ones. */
  const wrong =
    (uniform: () => number): Shuffle =>
    (items) => {
      const shuffled = [...items]
      for (let place = 0; place < shuffled.length; place++) {
        const other = Math.floor(uniform() * shuffled.length)
        ;[shuffled[place], shuffled[other]] = [shuffled[other]!, shuffled[place]!]
      }
      return shuffled
    }

  it('is exceeded by a shuffle with a bias of a few percent', () => {
    // xorshift32: any generator will do that repeats
    let state = 1
    const uniform = (): number => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return (state >>> 0) / 2 ** 32
    }
    const orders = cyclesOf(wrong(uniform))
      .flat()
      .map((heat) => subjectsOf(heat).join(','))
    expect(chiSquare(orders, ORDERS_OF_A_HEAT)).toBeGreaterThan(CRITICAL[5])
  })
})
