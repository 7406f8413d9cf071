/* upload.c: what has changed in the poses since the device saw them. Vertices of free bodies travel as they are, straight to
 * their place; of all others only weights, joints and transforms do, and the device makes the vertices of them. */
#include "device/world.h"

#include <string.h>

static pnResult writeVertices(pnDeviceWorld *world, pnBufferName into, uint32_t first, const pnPose *pose) {
  const size_t bytes = pose->mesh->vertexCount * 3 * sizeof(float);
  if (bytes == 0) return PN_OK;
  // the array, the caller's or the pose's own, stays as it is until Finish or pn_settle
  world->reading = true;
  cl_int error = pn_cl.EnqueueWriteBuffer(world->device->queue, world->buffers[into], 0, (size_t)first * 12, bytes,
                                          pose->source, 0, NULL, NULL);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueWriteBuffer", "vertices");
}

/* A transform or a joint as rows. */
static void putMatrix(const pnMatrix *m, float *out) {
  memcpy(out, m->m, 12 * sizeof(float));
}

static void putMoves(const pnPose *pose, float *out) {
  const bool weighted = pose->skin->mode == PN_SKIN_WEIGHTED;
  for (uint32_t j = 0; j < pose->skin->jointCount; ++j) {
    const pnJointMove *move = &pose->moves[j];
    for (int row = 0; row < 3; ++row)
      for (int k = 0; k < 4; ++k) out[4 * row + k] = move->column[k][row];
    out += 12;
    if (weighted) {
      memcpy(out, move->turn, sizeof move->turn);
      memcpy(out + 4, move->slide, sizeof move->slide);
      out += 8;
    }
  }
}

/* The motion of a body that is not plain, and its inputs. */
static void putMotion(const pnPose *pose, pnMotion *m, float *inputs) {
  m->flags = PN_MOTION_MOVED;
  if (pose->hasTransform) {
    m->flags |= PN_MOTION_TRANSFORM;
    putMatrix(&pose->transform, inputs + m->transform);
  }
  if (pose->morph) {
    m->flags |= pose->morph->mode == PN_MORPH_DELTAS ? PN_MOTION_DELTAS : PN_MOTION_REFERENCES;
    memcpy(inputs + m->weights, pose->weights, pose->morph->targetCount * sizeof(float));
  }
  if (pose->skin) {
    m->flags |= pose->skin->mode == PN_SKIN_LINEAR ? PN_MOTION_LINEAR : PN_MOTION_WEIGHTED;
    putMoves(pose, inputs + m->moves);
  }
}

/* One body: its vertices on the way, or its motion noted. */
static pnResult bringBody(pnDeviceWorld *world, size_t number, float *inputs) {
  const pnDeviceBody *body = &world->bodies.data[number];
  const pnPose *pose = body->pose;
  pnMotion *m = &world->motions.data[number];
  m->flags = 0;
  if (body->onDevice || body->frame == pose->frame) return PN_OK;
  if (pn_isPlain(pose)) return writeVertices(world, PN_BUFFER_VERTICES, body->firstVertex, pose);
  if (pose->motion->isStored && body->shapeFrame != pose->shapeFrame) {
    pnResult result = writeVertices(world, PN_BUFFER_SOURCES, m->source, pose);
    if (result != PN_OK) return result;
  }
  putMotion(pose, m, inputs);
  world->moved = true;
  return PN_OK;
}

/* Inputs and motions travel together, out of the copy whose turn it is. */
static pnResult sendInputs(pnDeviceWorld *world, uint32_t turn) {
  cl_command_queue queue = world->device->queue;
  const size_t motionBytes = world->motions.count * sizeof(pnMotion);
  memcpy(world->motionCopy[turn], world->motions.data, motionBytes);
  world->reading = true;
  cl_int error = pn_cl.EnqueueWriteBuffer(queue, world->buffers[PN_BUFFER_MOTIONS], 0, 0, motionBytes,
                                          world->motionCopy[turn], 0, NULL, NULL);
  if (error == CL_SUCCESS)
    error = pn_cl.EnqueueWriteBuffer(queue, world->buffers[PN_BUFFER_INPUTS], 0, 0, world->inputCount * sizeof(float),
                                     world->inputs[turn], 0, NULL, &world->inputEvent[turn]);
  return error == CL_SUCCESS ? PN_OK : pn_worldFail(world, error, "EnqueueWriteBuffer", "weights and joints");
}

void pn_forgetPoses(pnDeviceWorld *world) {
  for (size_t b = 0; b < world->bodies.count; ++b) world->bodies.data[b].frame = world->bodies.data[b].shapeFrame = 0;
}

pnResult pn_uploadPoses(pnDeviceWorld *world) {
  const uint32_t turn = world->inputTurn ^= 1;
  // the copy may still be on its way from two frames before
  if (world->inputEvent[turn]) {
    cl_int error = pn_cl.WaitForEvents(1, &world->inputEvent[turn]);
    pn_cl.ReleaseEvent(world->inputEvent[turn]);
    world->inputEvent[turn] = NULL;
    if (error != CL_SUCCESS) return pn_worldFail(world, error, "WaitForEvents", "weights and joints");
  }
  world->moved = false;
  for (size_t b = 0; b < world->bodies.count; ++b) {
    pnResult result = bringBody(world, b, world->inputs[turn]);
    if (result != PN_OK) return result;
  }
  pnResult result = world->moved ? sendInputs(world, turn) : PN_OK;
  for (size_t b = 0; b < world->bodies.count && result == PN_OK; ++b) {
    pnDeviceBody *body = &world->bodies.data[b];
    body->frame = body->pose->frame;
    body->shapeFrame = !pn_isPlain(body->pose) ? body->pose->shapeFrame : body->shapeFrame;
  }
  return result;
}
