/* A stream without an end: samples of a microphone or a recording, or motion of a phone, become windows and events in the module. */
const KEPT = 300, SHOWN_EVENTS = 200;
const live = { stop: null, frames: [], events: [], step: 0, shares: null };

/* Seconds from the beginning to the end of the last step. */
function clock() {
  const { sound, rate } = model.listen;
  return sound ? ((live.step - 1) * sound.hop + sound.frame) / sound.rate : live.step / (rate ?? 1);
}

function begin() {
  module.call('listen_reset');
  Object.assign(live, { frames: [], events: [], step: 0, shares: null, current: -1 });
  element('events').replaceChildren(); say('heard', 'Nothing yet.');
}

/* After a call of the module: 1 is a step, 2 a window that has ended with it. */
function taken(bits) {
  if (!(bits & 1)) return;
  live.step++;
  live.frames.push(Float32Array.from(module.step));
  if (live.frames.length > KEPT) live.frames.shift();
  if (!(bits & 2)) return;
  live.shares = likely(Array.from(module.said, value => value / model.scale));
  const begun = module.call('begun'), current = module.call('current');
  if (begun >= 0) tell(begun);
  if (current !== live.current) say('heard', current >= 0 ? nameOf(current) : 'Nothing now.');
  live.current = current;
}

function tell(place) {
  const event = { time: clock(), name: nameOf(place) };
  live.events.push(event);
  const item = document.createElement('li');
  item.textContent = event.time.toFixed(2) + (model.listen.sound || model.listen.rate ? ' s: ' : ' steps: ') + event.name;
  element('events').prepend(item);
  while (element('events').children.length > SHOWN_EVENTS) element('events').lastChild.remove();
}

/* Samples from -1 to 1, in the pieces that the module takes. */
function hear(samples) {
  const { hop } = model.listen.sound;
  for (let at = 0; at < samples.length; at += hop) {
    const piece = samples.subarray(at, at + hop);
    piece.forEach((sample, place) => { module.samples[place] = Math.max(-32768, Math.min(32767, Math.round(32768 * sample))); });
    taken(module.call('hear', piece.length));
  }
}

/* One step of a model that does not hear. */
function watch(values) {
  module.input.set(values);
  const bits = module.call('watch');
  if (bits < 0) throw new Error('a value is not finite');
  taken(bits);
}

function draw() {
  const canvas = element('spectrum'), context = canvas.getContext('2d');
  const [width, height] = [canvas.width, canvas.height];
  context.clearRect(0, 0, width, height);
  const ink = getComputedStyle(document.body).color, count = live.frames[0]?.length ?? 1;
  if (model.listen.sound) {
    let [low, high] = [Infinity, -Infinity];
    for (const frame of live.frames) for (const value of frame) { low = Math.min(low, value); high = Math.max(high, value); }
    low = Math.max(low, high - 12);
    context.fillStyle = ink;
    live.frames.forEach((frame, x) => frame.forEach((value, band) => {
      context.globalAlpha = Math.max(0, Math.min(1, (value - low) / (high - low || 1))) ** 2;
      context.fillRect(x * width / KEPT, height - (band + 1) * height / count, width / KEPT + .5, height / count + .5);
    }));
    context.globalAlpha = 1;
  } else {
    for (let channel = 0; channel < count; channel++) {
      const row = live.frames.map(frame => frame[channel]);
      const low = Math.min(...row), high = Math.max(...row);
      context.strokeStyle = ink; context.beginPath();
      row.forEach((value, x) => context.lineTo(x * width / KEPT, (channel + 1 - .1 - .8 * (value - low) / (high - low || 1)) * height / count));
      context.stroke();
    }
  }
  const shares = live.shares ?? [];
  const order = shares.map((_, place) => place).sort((a, b) => shares[b] - shares[a]).slice(0, 5);
  const table = element('shares');
  table.replaceChildren();
  for (const place of order) {
    const row = table.insertRow();
    row.insertCell().textContent = nameOf(place);
    row.insertCell().textContent = (100 * shares[place]).toFixed(1) + ' %';
    row.insertCell().append(bar(place, shares[place]));
  }
}

function drawing() { if (live.stop) { draw(); requestAnimationFrame(drawing); } }

function started(stop) {
  live.stop = stop;
  say('listen', 'Stop'); requestAnimationFrame(drawing);
}

function stop() {
  live.stop?.(); live.stop = null;
  say('listen', element('listen').dataset.name); draw();
}

/* Runs in the thread of the sound, and hands over what it gets. */
const WORKLET = `registerProcessor('ear', class extends AudioWorkletProcessor {
  process(inputs) { if (inputs[0][0]) this.port.postMessage(inputs[0][0].slice()); return true; } })`;

async function microphone() {
  const { rate } = model.listen.sound;
  const wanted = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const heard = await navigator.mediaDevices.getUserMedia({ audio: wanted });
  const context = new AudioContext({ sampleRate: rate });
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([WORKLET], { type: 'text/javascript' })));
  const ear = new AudioWorkletNode(context, 'ear', { numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' });
  let rest = new Float32Array(0);
  ear.port.onmessage = ({ data }) => {
    const all = new Float32Array(rest.length + data.length), { hop } = model.listen.sound;
    all.set(rest); all.set(data, rest.length);
    const whole = all.length - all.length % hop;
    hear(all.subarray(0, whole)); rest = all.slice(whole);
  };
  context.createMediaStreamSource(heard).connect(ear);
  started(() => { ear.port.onmessage = null; heard.getTracks().forEach(track => track.stop()); context.close(); });
}

/* A whole recording at once. */
async function recording(bytes) {
  const context = new OfflineAudioContext(1, 1, model.listen.sound.rate);
  const sound = await context.decodeAudioData(bytes);
  const samples = new Float32Array(sound.length);
  for (let channel = 0; channel < sound.numberOfChannels; channel++)
    sound.getChannelData(channel).forEach((sample, place) => { samples[place] += sample / sound.numberOfChannels; });
  begin(); hear(samples); draw();
  say('listened', sound.duration.toFixed(1) + ' s heard, ' + live.events.length + (live.events.length === 1 ? ' event.' : ' events.'));
}

async function motion() {
  const allowed = await (window.DeviceMotionEvent?.requestPermission?.() ?? 'granted');
  if (allowed !== 'granted') throw new Error('the phone does not give its motion to this page');
  const unit = { g: 1 / 9.80665, ms: 1, rad: Math.PI / 180, deg: 1 };
  let next = null;
  const moved = event => {
    const pull = event.accelerationIncludingGravity ?? {}, turn = event.rotationRate ?? {};
    const values = [pull.x, pull.y, pull.z].map(value => (value ?? 0) * unit[element('pull').value]);
    values.push(...[turn.alpha, turn.beta, turn.gamma].map(value => (value ?? 0) * unit[element('turn').value]));
    const step = 1000 / (model.listen.rate ?? 1000 / (event.interval || 16));
    next ??= event.timeStamp;
    /* Even steps: the last value is held. */
    for (; next <= event.timeStamp; next += step) watch(values.slice(0, model.inputs));
  };
  window.addEventListener('devicemotion', moved);
  started(() => window.removeEventListener('devicemotion', moved));
}

function prepareListening() {
  const { sound, window: steps, every, rate } = model.listen;
  const perSecond = sound ? sound.rate / sound.hop : rate;
  const span = count => perSecond ? (count / perSecond).toFixed(2) + ' s' : count + ' steps';
  const begins = 'A window of ' + span(steps) + ' is judged every ' + span(every) + '.';
  const able = sound || model.inputs === 3 || model.inputs === 6;
  if (!able) return;
  element('live').hidden = false; element('sequence').open = !sound;
  element('sounds').hidden = !sound; element('motions').hidden = Boolean(sound);
  element('listen').dataset.name = sound ? 'Listen with the microphone' : 'Use the motion of this phone';
  say('listen', element('listen').dataset.name);
  say('livenote', begins + (sound ? ' Sound stays in this page.'
    : ' The channels must be acceleration' + (model.inputs === 6 ? ', then turning rate,' : '') + ' along x, y and z: ' + model.features.join(', ') + '.'));
  const { exports } = module.instance, memory = exports.memory.buffer;
  module.step = new Float32Array(memory, module.call('heard_step'), model.inputs);
  module.said = new (model.whole ? Int32Array : Float32Array)(memory, module.call('said'), model.count);
  if (sound) module.samples = new Int16Array(memory, module.call('samples'), sound.hop);
  const failed = error => { say('trouble', error.message); stop(); };
  element('listen').onclick = async () => {
    say('trouble', ''); say('listened', '');
    if (live.stop) return stop();
    begin();
    try { await (sound ? microphone() : motion()); } catch (error) { failed(error); }
  };
  const take = async file => {
    say('trouble', '');
    try { await recording(await file.arrayBuffer()); } catch (error) { failed(error); }
  };
  element('wav').onchange = () => take(element('wav').files[0]);
  element('live').ondragover = event => event.preventDefault();
  element('live').ondrop = event => { event.preventDefault(); if (sound && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]); };
  draw();
}
