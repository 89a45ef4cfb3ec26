"use strict";
const data=JSON.parse(document.getElementById("data").textContent);
const unit=document.body.dataset.unit;
const steps={bytes:["B","kB","MB","GB","TB","PB"],ns:["ns","us","ms","s"]}[unit]||["","k","M","G","T"];
const human=n=>{let at=0;while(n>=999.95&&at<steps.length-1){n/=1000;at++}return (at?n.toFixed(1):n)+" "+steps[at]};
const share=(n,whole)=>{const of=whole?100*n/whole:0;return (of>=10?Math.round(of):of.toFixed(1))+" %"};
const widest=Math.max(1,...data.map(i=>i.is_alone?0:i.root.bytes));
const scale=i=>i.is_alone?Math.max(1,i.root.bytes):widest;
const detail=document.getElementById("detail");
const cards=[...document.querySelectorAll("#advice .advice, #more .advice")];
let query="";

const node=(name,text,more={})=>Object.assign(document.createElement(name),text===undefined?more:{textContent:text,...more});
// A path without the outermost bar's name is that of a finding, or leads to one.
const short=trail=>trail.slice(1).map(bar=>bar.name).join("").trim();
const paths=card=>card.dataset.paths.split("\n").filter(path=>path);
const of=path=>path?cards.filter(card=>paths(card).some(key=>key.startsWith(path)||path.startsWith(key))):[];
const exactly=path=>path?cards.filter(card=>paths(card).includes(path)):[];

function show(chart,trail){
 const bar=trail[trail.length-1];
 detail.textContent="";detail.className="";
 detail.append(node("h3",short(trail)||bar.name,{className:"name"}));
 detail.append(node("div",human(bar.bytes)+", "+share(bar.bytes,chart.icicle.root.bytes)+" ("+bar.bytes.toLocaleString("en")+" "+unit+")"));
 const list=node("dl");
 for(const [label,text] of bar.details)list.append(node("dt",label),node("dd",text));
 detail.append(list);
 if(!bar.details.length&&!of(short(trail)).length&&bar.bars.length)list.append(node("dt","inside"),...bar.bars.slice(0,8).map(inner=>node("dd",inner.name.trim()+" "+human(inner.bytes))));
 for(const card of of(short(trail)).slice(0,4)){const copy=card.cloneNode(true);copy.removeAttribute("tabindex");detail.append(copy)}
}

function draw(chart){
 const {icicle,plot,trail}=chart;
 const middle=trail[trail.length-1];
 const isWhole=trail.length===1;
 const whole=isWhole?scale(icicle):Math.max(1,middle.bytes);
 let from=0;
 for(let at=1;at<trail.length;at++)for(const bar of trail[at-1].bars){if(bar===trail[at])break;from+=bar.bytes}
 const active=document.activeElement&&document.activeElement.trail,width=plot.clientWidth||1000;
 plot.textContent="";let rows=0;
 const add=(bar,left,row,path,way)=>{
  const l=(left-from)/whole,w=bar.bytes/whole,x=Math.max(0,l),r=Math.min(1,l+w);
  if(r<=0||x>=1||r-x<4e-4)return;
  rows=Math.max(rows,row+1);
  const b=node("button"),advice=exactly(short(way));
  b.className="bar "+bar.class+(query&&path.toLowerCase().includes(query)?" found":"")+(advice.length?" advised":"")+(bar===middle&&!isWhole?" chosen":"");
  b.style.left=x*100+"%";b.style.width=(r-x)*100+"%";b.style.top=row*chart.row+"px";
  if((r-x)*width>30){
   const saves=advice.length?", saves "+advice[0].dataset.saves:"";
   b.append(node("b",bar.name.trim()));
   if((r-x)*width>70)b.append(node("small",human(bar.bytes)+((r-x)*width>120?", "+share(bar.bytes,icicle.root.bytes)+saves:"")));
  }
  else b.style.padding="0";
  b.title=path+" "+human(bar.bytes);b.tabIndex=bar===middle?0:-1;b.trail=way;
  b.onclick=()=>zoom(chart,way);
  plot.append(b);
  if(active&&active[active.length-1]===bar&&active.length===way.length)b.focus({preventScroll:true});
  let at=left;
  for(const inner of bar.bars){add(inner,at,row+1,path+inner.name,[...way,inner]);at+=inner.bytes}
 };
 add(icicle.root,0,0,icicle.root.name,[icicle.root]);
 plot.style.height=rows*chart.row+"px";
 chart.crumbs.textContent="";
 if(!isWhole)trail.slice(0,-1).forEach((bar,at)=>{
  const up=node("button",bar.name.trim());up.onclick=()=>zoom(chart,trail.slice(0,at+1));chart.crumbs.append(up," > ")});
}
function zoom(chart,trail){chart.trail=trail;show(chart,trail);draw(chart)}

// A deep chart has flat rows, so that more of it is seen.
const depth=bar=>1+Math.max(0,...bar.bars.map(depth));
const charts=[];
for(const [index,icicle] of data.entries()){
 const plot=document.getElementById("plot"+index),isFlat=depth(icicle.root)>8;
 if(isFlat)plot.classList.add("flat");
 charts.push({icicle,plot,trail:[icicle.root],row:isFlat?22:43,crumbs:document.getElementById("crumbs"+index)});
}
const all=()=>charts.forEach(draw);

// Arrows walk over the bars: left and right among equals, down to the first one inside, up to the outer one. Enter widens.
for(const chart of charts)chart.plot.addEventListener("keydown",event=>{
 const trail=document.activeElement.trail;
 if(!trail)return;
 const bar=trail[trail.length-1],outer=trail[trail.length-2];
 const beside=by=>outer&&outer.bars[outer.bars.indexOf(bar)+by];
 const next={ArrowLeft:()=>beside(-1),ArrowRight:()=>beside(1),ArrowDown:()=>bar.bars[0],ArrowUp:()=>outer}[event.key];
 if(!next)return;
 event.preventDefault();
 const found=[...chart.plot.children].find(b=>b.trail[b.trail.length-1]===next());
 if(found){found.focus();show(chart,found.trail)}
});

// A finding leads to its bar.
function find(path){
 const walk=(chart,trail)=>{
  if(short(trail)===path)return [chart,trail];
  for(const bar of trail[trail.length-1].bars){const found=walk(chart,[...trail,bar]);if(found)return found}
 };
 for(const chart of charts){const found=walk(chart,[chart.icicle.root]);if(found)return found}
}
for(const card of cards){
 const go=()=>{
  const found=paths(card).map(find).find(Boolean);
  if(!found)return;
  found[0].trail=[found[0].icicle.root];
  show(...found);draw(found[0]);
  const bar=[...found[0].plot.children].find(b=>b.trail[b.trail.length-1]===found[1][found[1].length-1]);
  if(bar){bar.focus();bar.scrollIntoView({block:"nearest"})}
 };
 card.onclick=go;
 card.onkeydown=event=>{if(event.key==="Enter"||event.key===" "){event.preventDefault();go()}};
}

const box=document.getElementById("search");
function search(){
 query=box.value.trim().toLowerCase();let shown=0;
 for(const row of document.querySelectorAll("#table tbody tr")){row.hidden=query!==""&&!row.textContent.toLowerCase().includes(query);if(!row.hidden)shown++}
 document.getElementById("shown").textContent=shown;
 all();
}
box.oninput=search;
addEventListener("keydown",event=>{
 if(event.key==="Escape"){for(const chart of charts)chart.trail=[chart.icicle.root];all()}
 if(event.key==="/"&&document.activeElement!==box){event.preventDefault();box.focus()}
});
addEventListener("resize",all);
box.value=decodeURIComponent(location.hash.replace(/^#q=/,""));
search();
// The largest finding is the first thing to look at.
const first=cards.length?paths(cards[0]).map(find).find(Boolean):undefined;
if(first){
 show(...first);
 detail.append(node("p","Click a bar, or walk with Tab and the arrows; Escape goes back, / searches.",{className:"dim"}));
}
