import { cookies, headers } from 'next/headers'

export default async function Page({ searchParams }) {
  const query = await searchParams
  const [agent, session] = [(await headers()).get('user-agent'), (await cookies()).get('session')?.value]
  return (
    <main>
      <h1>SSR</h1>
      <p>{JSON.stringify({ query, agent, session })}</p>
    </main>
  )
}
