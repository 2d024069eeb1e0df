// How much light falls on a point of the dungeon: half of it, so that there can be twice
// as much as white.

struct Lamp {
    // The place, and how far it reaches.
    place: vec4<f32>,
    colour: vec4<f32>,
}

struct Night {
    ambient: vec4<f32>,
    // What the camera sees: the middle, and half of the size.
    view: vec4<f32>,
    // Those that are off are black.
    lamps: array<Lamp, 24>,
}

@group(2) @binding(0) var<uniform> night: Night;

struct Point {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>,
}

// The sheet covers all that the camera sees.
@vertex
fn vertex(@location(0) corner: vec3<f32>) -> Point {
    let place = night.view.xy + corner.xy * night.view.zw;
    return Point(vec4(corner.xy, 0.5, 1.0), place);
}

@fragment
fn fragment(point: Point) -> @location(0) vec4<f32> {
    var light = night.ambient.rgb;
    for (var i = 0u; i < 24u; i++) {
        let lamp = night.lamps[i];
        let way = (point.place - lamp.place.xy) / lamp.place.z;
        let near = saturate(1.0 - dot(way, way));
        light += lamp.colour.rgb * near * near;
    }
    return vec4(light * 0.5, 1.0);
}
