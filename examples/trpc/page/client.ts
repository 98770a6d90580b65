import {
  createTRPCClient,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  isNonJsonSerializable,
  splitLink,
  TRPCClientError,
} from '@trpc/client'
import type { TrpcStats } from 'trpc-fastify'
import type { AppRouter } from '../router.ts'

const url = '/trpc'
const trpc = createTRPCClient<AppRouter>({
  links: [
    splitLink({
      condition: ({ type }) => type === 'subscription',
      true: httpSubscriptionLink({ url }),
      false: splitLink({
        // A form with files cannot be a part of a batch.
        condition: ({ input }) => isNonJsonSerializable(input),
        true: httpLink({ url }),
        false: httpBatchStreamLink({ url }),
      }),
    }),
  ],
})

onSubmit('query', () => {
  showAnswer('greeting', trpc.greet.query({ name: field('name').value }), ({ text }) => text)
})

// Calls of the same event-loop tick are one request. Each result is shown when it arrives.
onSubmit('batch', () => {
  const milliseconds = field('milliseconds').valueAsNumber
  showAnswer('slow', trpc.slow.query({ milliseconds }), ({ hello }) => hello)
  showAnswer('later', trpc.later.query(), ({ hello }) => hello)
  showAnswer('hello', trpc.hello.query(), ({ hello }) => hello)
})

onSubmit('mutation', () => {
  showAnswer('noted', trpc.note.mutate({ name: field('note').value }), ({ length }) => `${length} characters`)
})

onSubmit('upload', (form) => {
  showAnswer('uploaded', trpc.upload.mutate(new FormData(form)), ({ name, size }) => `${name}, ${size} bytes`)
})

onSubmit('error', () => {
  showAnswer('refused', trpc.refused.query(), () => 'Not refused')
})

onSubmit('lazy', () => {
  showAnswer('health', trpc.admin.health.query(), ({ healthy }) => (healthy ? 'Healthy' : 'Not healthy'))
})

// Each event has an id. After a lost connection the browser reconnects and sends the last id, and the procedure continues
// from there.
let counting: { unsubscribe(): void } | undefined

onSubmit('subscription', () => {
  counting?.unsubscribe()
  const numbers = output('numbers')
  numbers.value = ''
  counting = trpc.count.subscribe(
    { to: field('to').valueAsNumber },
    {
      onConnectionStateChange({ state, error }) {
        if (state === 'pending') show('connection', 'Connected', 'done')
        if (state === 'connecting') show('connection', error ? 'Connecting again …' : 'Connecting …', 'waiting')
      },
      onStarted: showStats,
      onData({ data }) {
        numbers.value += `${data.number} `
        numbers.scrollTop = numbers.scrollHeight
      },
      onComplete: () => show('connection', 'Complete', 'done'),
      onError: (error) => show('connection', reason(error), 'failed'),
    },
  )
})

document.querySelector('#stop')!.addEventListener('click', () => {
  counting?.unsubscribe()
  show('connection', 'Stopped', 'done')
})

await showStats()

function onSubmit(id: string, listener: (form: HTMLFormElement) => void): void {
  const form = document.querySelector<HTMLFormElement>(`#${id}`)!
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    listener(form)
  })
}

function field(id: string): HTMLInputElement {
  return document.querySelector<HTMLInputElement>(`#${id}`)!
}

function output(id: string): HTMLOutputElement {
  return document.querySelector<HTMLOutputElement>(`#${id}`)!
}

function show(id: string, text: string, state: 'waiting' | 'done' | 'failed'): void {
  output(id).value = text
  output(id).dataset['state'] = state
}

/** Shows that a call is pending, and then its result or error. */
function showAnswer<T>(id: string, call: Promise<T>, tell: (answer: T) => string): void {
  show(id, 'Waiting …', 'waiting')
  call
    .then((answer) => show(id, tell(answer), 'done'))
    .catch((error: unknown) => show(id, reason(error), 'failed'))
    .finally(showStats)
}

function reason(error: unknown): string {
  if (!(error instanceof TRPCClientError)) return String(error)
  const { data, message } = error as TRPCClientError<AppRouter>
  // The network failed, not the server.
  if (!data) return message
  // Errors of a validator are a list.
  const [found] = message.startsWith('[') ? (JSON.parse(message) as { message: string }[]) : []
  return `${data.code}: ${found?.message ?? message}`
}

/** Shows how many requests took which path on the server. */
async function showStats(): Promise<void> {
  const response = await fetch('/stats')
  const { compiled, uncompiled, fallback } = (await response.json()) as TrpcStats
  output('fast').value = String(compiled + uncompiled)
  const reasons = Object.entries(fallback).map(([why, count]) => `${count} (${why})`)
  output('official').value = reasons.join(', ') || '0'
}
