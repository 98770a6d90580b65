// A function that runs in another process has none of the variables around it. V8 has a scope object with each variable
// that any inner function uses. The inspector lists these.

import type { Session } from 'node:inspector'

interface RemoteObject {
  readonly objectId?: string
  readonly description?: string
}
interface Property {
  readonly name: string
  readonly value?: RemoteObject
}
interface Properties {
  readonly result: readonly Property[]
  readonly internalProperties?: readonly Property[]
}

/** A character of a name. */
const WORD = /[\w$]/

/** Shared by all contexts of a thread, as test runners create. */
const HOLDER = Symbol.for('speed-bounds.inspected-function')

/**
 * The variables from outside that the source of a function mentions. A name within a string, a comment or an own variable
 * counts too: a function is rather rejected than measured wrong. Undefined if V8 does not tell.
 */
export function outerVariables(fn: () => unknown): string[] | undefined {
  const names = visibleVariables(fn)
  if (!names) return undefined
  const source = String(fn)
  const own = /^(?:async\s+)?function\s*([\w$]+)/.exec(source)?.[1]
  return names.filter((name) => name !== own && mentions(source, name))
}

/** Whether a name is there as a word, other than as a property after a dot. */
function mentions(source: string, name: string): boolean {
  for (let at = source.indexOf(name); at !== -1; at = source.indexOf(name, at + 1)) {
    const before = source.slice(Math.max(0, at - 2), at)
    const after = source.charAt(at + name.length)
    // Three dots spread a variable.
    const isProperty = before.endsWith('.') && before !== '..'
    if (!isProperty && !WORD.test(before.slice(-1)) && !WORD.test(after)) return true
  }
  return false
}

function visibleVariables(fn: () => unknown): string[] | undefined {
  const inspector = process.getBuiltinModule('node:inspector') as { Session: new () => Session } | undefined
  if (!inspector) return undefined
  const session = new inspector.Session()
  session.connect()
  const holder = process as unknown as Record<symbol, unknown>
  holder[HOLDER] = fn
  try {
    const propertiesOf = ({ objectId }: RemoteObject): Properties =>
      post(session, 'Runtime.getProperties', { objectId, ownProperties: true }) as Properties
    const expression = `process[Symbol.for(${JSON.stringify(HOLDER.description)})]`
    const { result } = post(session, 'Runtime.evaluate', { expression }) as { result: RemoteObject }
    const scopes = propertiesOf(result).internalProperties?.find(({ name }) => name === '[[Scopes]]')?.value
    if (!scopes) return undefined
    return propertiesOf(scopes)
      .result.flatMap(({ name, value }) => (/^\d+$/.test(name) && value ? value : []))
      .filter(({ description }) => description !== 'Global')
      .flatMap((scope) => propertiesOf(scope).result.map(({ name }) => name))
  } catch {
    return undefined
  } finally {
    delete holder[HOLDER]
    session.disconnect()
  }
}

/** Within one thread, the inspector responds before `post` returns. */
function post(session: Session, method: string, parameters: object): object {
  let response: object | undefined
  session.post(method, parameters, (error, result) => {
    if (error) throw error
    response = result
  })
  if (response === undefined) throw new Error(`${method} has no response`)
  return response
}
