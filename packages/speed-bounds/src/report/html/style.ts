/** The style of a report. Colors of subjects differ in lightness too, for readers who see fewer colors. */
export const STYLE = `
:root{color-scheme:light dark;--page:#f7f7f5;--card:#fff;--ink:#1b1f24;--soft:#5b636e;--line:#e3e4e1;--grid:#ebece9;
--better:#18794e;--worse:#c62a2f;--unsure:#946800;--open:#60646c;
--s0:#2f6fde;--s1:#d9730d;--s2:#12866b;--s3:#b5379a;--s4:#7a5af0;--s5:#a07400;--s6:#0e8ba8;--s7:#5f6b7a;
--server:#3f4955;--generator:#c9851f;--latency:#c3c8ce;--fo:#f3b562;--fp:#f5d491;--fn:#bcd3ee;--fe:#d8dbe0;--fot:#1b1f24}
@media (prefers-color-scheme:dark){:root{--page:#101214;--card:#181b1f;--ink:#eceef0;--soft:#a2aab4;--line:#2b2f35;--grid:#25292e;
--better:#3dd68c;--worse:#ff7b78;--unsure:#f0b429;--open:#9ba1a9;
--s0:#6ea8ff;--s1:#ff9f4a;--s2:#3ecfa8;--s3:#f27fd8;--s4:#a896ff;--s5:#e0b53b;--s6:#4cc9e6;--s7:#a3adba;
--server:#c6cdd5;--generator:#c9851f;--latency:#4a525b;--fo:#9a5b0c;--fp:#6b4c14;--fn:#2b4a70;--fe:#3b4148;--fot:#eceef0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{max-width:60rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.02em;margin:0 0 .4rem}
h2{font-size:1.3rem;letter-spacing:-.01em;margin:3rem 0 .25rem}
h3{font-size:1.05rem;margin:1.75rem 0 .75rem}
h4{font-size:1rem;margin:0}
p{margin:0}small{font-size:.8125rem;font-weight:400;color:var(--soft)}
.soft,figcaption{color:var(--soft);font-size:.875rem}
code{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:.5rem 0;padding:.85rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem;white-space:pre-wrap}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:1rem;margin:1.75rem 0}
.card,figure,.scroll{background:var(--card);border:1px solid var(--line);border-radius:.75rem}
.card{padding:1rem 1.15rem .6rem;max-width:30rem}
.card h3{margin:.1rem 0 0;font-size:1rem;line-height:1.35}
.verdict{font-size:.875rem;font-weight:650;color:var(--tone)}
.big{font-size:2.25rem;line-height:1.25;font-weight:650;letter-spacing:-.03em;font-variant-numeric:tabular-nums;margin:.15rem 0 .35rem}
.better{--tone:var(--better)}.worse{--tone:var(--worse)}.unsure{--tone:var(--unsure)}.open{--tone:var(--open)}
figure{margin:1rem 0;padding:1rem 1.15rem}
figcaption{margin-bottom:.75rem;max-width:42rem}
svg{display:block;width:100%;overflow:visible}
svg text{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
.grid{stroke:var(--grid);vector-effect:non-scaling-stroke}.one{stroke:var(--soft)}
.bound{stroke:var(--ink);stroke-width:2;stroke-dasharray:3 2}
.interval{fill:var(--tone);opacity:.32}.middle{fill:var(--tone);stroke:var(--card);stroke-width:1.5}
.median{stroke:var(--ink);stroke-width:2}
.density{fill:var(--color);opacity:.16}
.dots,.line{fill:none;stroke:var(--color);vector-effect:non-scaling-stroke;stroke-linecap:round;stroke-linejoin:round}
.dots{stroke-width:5;opacity:.6}.line{stroke-width:2}.thin{stroke-width:1.5;opacity:.75}
.rows{width:100%;border-collapse:collapse}
.rows th,.rows td{padding:.1rem 0;text-align:left;vertical-align:middle;font-weight:400;font-size:.875rem}
.rows th{width:10.5rem;padding-right:1rem;line-height:1.3}
.rows .figure{width:13rem;padding-left:1rem;font-variant-numeric:tabular-nums;line-height:1.3}
.rows .group th{font-weight:650;padding:.6rem 0 .2rem}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;margin:0 0 1.1rem;padding:0;font-size:.875rem}
.legend li::before,.swatch{content:"";display:inline-block;width:.7rem;height:.7rem;border-radius:.2rem;background:var(--color);margin-right:.45rem}
.stack{display:flex;gap:2px;height:1rem}.stack span{background:var(--color);border-radius:.2rem;min-width:2px}
.server{--color:var(--server)}.generator{--color:var(--generator)}.latency{--color:var(--latency)}
.s0{--color:var(--s0)}.s1{--color:var(--s1)}.s2{--color:var(--s2)}.s3{--color:var(--s3)}
.s4{--color:var(--s4)}.s5{--color:var(--s5)}.s6{--color:var(--s6)}.s7{--color:var(--s7)}
.lines{display:flex;gap:.6rem}.lines>div{flex:1;min-width:0}.labels{width:3.4rem;flex:none}
.scroll{overflow-x:auto;margin:.75rem 0}figure .scroll{margin:1rem 0 0;border-radius:.5rem}
.data{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
.data th,.data td{padding:.45rem .85rem;text-align:right;white-space:nowrap;border-top:1px solid var(--line);font-weight:400}
.data thead th{border-top:0;color:var(--soft)}.data th:first-child{text-align:left}.data tbody th{font-weight:550}
.flame{overflow:hidden}.flame ul{list-style:none;display:flex;margin:0;padding:0}.flame li{min-width:0}
.flame span{display:block;height:1.15rem;margin:0 1px 1px 0;padding:0 .25rem;font-size:.6875rem;line-height:1.15rem;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;border-radius:2px;background:var(--color);color:var(--on)}
.own{--color:var(--fo);--on:var(--fot)}.package{--color:var(--fp);--on:var(--fot)}.node{--color:var(--fn);--on:var(--fot)}.engine{--color:var(--fe);--on:var(--fot)}
.tone{color:var(--tone)}.data .module,.data th.module{text-align:left;color:var(--soft)}
.conditions{margin:.75rem 0;display:grid;gap:.35rem;font-size:.9375rem}
.conditions div{display:grid;grid-template-columns:8rem 1fr;gap:1rem}.conditions dt{color:var(--soft)}.conditions dd{margin:0}
@media (max-width:40rem){.extra{display:none}main{padding:1.5rem 1rem 3rem}h1{font-size:1.4rem}figure{padding:.9rem}
.rows,.rows tbody{display:block}.rows tr{display:grid;grid-template-columns:minmax(6rem,1fr) auto;column-gap:.75rem;padding:.3rem 0}
.rows th{width:auto;padding:0}.rows .figure{width:auto;padding:0;text-align:right;order:1}
.rows td:nth-child(2){grid-column:1/-1;order:2}.rows .group th{grid-column:1/-1}.rows .foot td:not(:nth-child(2)){display:none}
.conditions div{grid-template-columns:1fr;gap:0}.data th,.data td{padding:.4rem .6rem}.labels{width:3rem}.lines{gap:.4rem}.data .module,.data th.module{display:none}}
@media print{body{background:none}figure,.card{break-inside:avoid}}
`
