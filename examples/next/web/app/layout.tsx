import type { ReactNode } from 'react'

export const metadata = { title: 'An app on Next.js', description: 'Every kind of page that Next.js has' }

export default function RootLayout({ children }: { children: ReactNode }): ReactNode {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
